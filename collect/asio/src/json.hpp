// A small JSON reader for jobs and commands, and the quoting that messages need.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pairbench {

// json is one value. Numbers keep their text, so that whole numbers of 64 bits
// stay exact.
class json {
  public:
    struct number {
        std::string text;
    };
    using array = std::vector<json>;
    using object = std::vector<std::pair<std::string, json>>;

    // parse throws std::runtime_error unless text is exactly one JSON value,
    // nested no deeper than 64.
    static json parse(std::string_view text);

    // find returns the member of that name, the last where there are several, or
    // null where there is none or this is no object.
    const json *find(std::string_view name) const;

    bool is_null() const { return std::holds_alternative<std::monostate>(value); }
    const std::string *text() const { return std::get_if<std::string>(&value); }
    const array *elements() const { return std::get_if<array>(&value); }
    const object *members() const { return std::get_if<object>(&value); }
    // integer returns a number that is whole and fits, also one written as 1e3
    // or 5.0.
    std::optional<std::int64_t> integer() const;

    std::variant<std::monostate, bool, number, std::string, array, object> value;
};

// quote returns s as a JSON string.
std::string quote(std::string_view s);

} // namespace pairbench
