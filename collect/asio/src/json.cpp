#include "json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace pairbench {
namespace {

class parser {
  public:
    explicit parser(std::string_view text) : text(text) {}

    json document() {
        json v = element(0);
        skip();
        if (at != text.size())
            fail("text after the value");
        return v;
    }

  private:
    std::string_view text;
    std::size_t at = 0;

    [[noreturn]] void fail(const char *what) const {
        throw std::runtime_error("parse JSON: byte " + std::to_string(at) + ": " + what);
    }

    void skip() {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
            at++;
    }

    bool take(char c) {
        if (at == text.size() || text[at] != c)
            return false;
        at++;
        return true;
    }

    void expect(char c, const char *what) {
        if (!take(c))
            fail(what);
    }

    bool word(std::string_view w) {
        if (text.substr(at, w.size()) != w)
            return false;
        at += w.size();
        return true;
    }

    json element(int depth) {
        if (depth > 64)
            fail("nested deeper than 64");
        skip();
        if (at == text.size())
            fail("a value is missing");
        switch (text[at]) {
        case '{':
            return {members(depth)};
        case '[':
            return {elements(depth)};
        case '"':
            return {string()};
        default:
            if (word("null"))
                return {};
            if (word("true"))
                return {true};
            if (word("false"))
                return {false};
            return {number()};
        }
    }

    json::object members(int depth) {
        json::object all;
        at++;
        skip();
        if (take('}'))
            return all;
        do {
            skip();
            std::string name = string();
            skip();
            expect(':', "expected a colon");
            all.emplace_back(std::move(name), element(depth + 1));
            skip();
        } while (take(','));
        expect('}', "expected a comma or the object's end");
        return all;
    }

    json::array elements(int depth) {
        json::array all;
        at++;
        skip();
        if (take(']'))
            return all;
        do {
            all.push_back(element(depth + 1));
            skip();
        } while (take(','));
        expect(']', "expected a comma or the array's end");
        return all;
    }

    json::number number() {
        const std::size_t from = at;
        take('-');
        if (!take('0'))
            digits();
        if (take('.'))
            digits();
        if (take('e') || take('E')) {
            if (!take('+'))
                take('-');
            digits();
        }
        return {std::string(text.substr(from, at - from))};
    }

    void digits() {
        const std::size_t from = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9')
            at++;
        if (at == from)
            fail("expected a value");
    }

    std::string string() {
        std::string s;
        expect('"', "expected a string");
        while (!take('"')) {
            if (at == text.size())
                fail("the string does not end");
            const unsigned char c = text[at];
            if (c < 0x20)
                fail("control character in a string");
            at++;
            if (c == '\\')
                escape(s);
            else
                s += static_cast<char>(c);
        }
        return s;
    }

    void escape(std::string &s) {
        if (at == text.size())
            fail("the string does not end");
        const char c = text[at++];
        static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
        if (const auto i = names.find(c); i != names.npos)
            s += values[i];
        else if (c == 'u')
            append(s, code_point());
        else
            fail("unknown escape");
    }

    std::uint32_t code_point() {
        const std::uint32_t high = hex();
        if (high < 0xd800 || high > 0xdfff)
            return high;
        if (high < 0xdc00 && word("\\u"))
            if (const std::uint32_t low = hex(); low >= 0xdc00 && low <= 0xdfff)
                return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        fail("half of a surrogate pair");
    }

    std::uint32_t hex() {
        std::uint32_t v = 0;
        if (text.size() - at < 4)
            fail("expected four hexadecimal digits");
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, v, 16);
        if (error != std::errc() || end != text.data() + at + 4)
            fail("expected four hexadecimal digits");
        at += 4;
        return v;
    }

    static void append(std::string &s, std::uint32_t c) {
        const auto tail = [&s](std::uint32_t bits) { s += static_cast<char>(0x80 | (bits & 0x3f)); };
        if (c < 0x80) {
            s += static_cast<char>(c);
        } else if (c < 0x800) {
            s += static_cast<char>(0xc0 | c >> 6);
            tail(c);
        } else if (c < 0x10000) {
            s += static_cast<char>(0xe0 | c >> 12);
            tail(c >> 6);
            tail(c);
        } else {
            s += static_cast<char>(0xf0 | c >> 18);
            tail(c >> 12);
            tail(c >> 6);
            tail(c);
        }
    }
};

} // namespace

json json::parse(std::string_view text) { return parser(text).document(); }

const json *json::find(std::string_view name) const {
    const json *found = nullptr;
    if (const object *all = members())
        for (const auto &[key, member] : *all)
            if (key == name)
                found = &member;
    return found;
}

std::optional<std::int64_t> json::integer() const {
    const number *n = std::get_if<number>(&value);
    if (!n)
        return std::nullopt;
    const char *from = n->text.data(), *to = from + n->text.size();
    std::int64_t whole = 0;
    if (const auto [end, error] = std::from_chars(from, to, whole); error == std::errc() && end == to)
        return whole;
    double v = 0;
    if (const auto [end, error] = std::from_chars(from, to, v); error != std::errc() || end != to)
        return std::nullopt;
    if (v != std::trunc(v) || std::fabs(v) >= 9007199254740992.0)
        return std::nullopt;
    return static_cast<std::int64_t>(v);
}

std::string quote(std::string_view s) {
    std::string q = "\"";
    for (const unsigned char c : s) {
        if (c == '"' || c == '\\') {
            q += '\\';
            q += static_cast<char>(c);
        } else if (c < 0x20 || c >= 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
            q += escaped;
        } else {
            q += static_cast<char>(c);
        }
    }
    return q + '"';
}

} // namespace pairbench
