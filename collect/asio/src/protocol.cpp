#include "protocol.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "json.hpp"

namespace pairbench {
namespace {

static_assert(std::endian::native == std::endian::little, "the frame is written as it lies in memory");

constexpr int messages = 3, commands = 4, frame = 5;
constexpr std::size_t max_line_bytes = 1 << 20;

void write_all(int fd, const void *data, std::size_t size) {
    for (auto p = static_cast<const char *>(data); size > 0;) {
        const ssize_t n = ::write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            throw std::runtime_error(std::string("write: ") + std::strerror(errno));
        p += n;
        size -= static_cast<std::size_t>(n);
    }
}

// CRC-32 as in zlib, eight bytes a step.
constexpr auto crc_tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t i = 0; i < 256; i++) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        t[0][i] = c;
    }
    for (std::size_t k = 1; k < 8; k++)
        for (std::size_t i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
    return t;
}();

std::uint32_t crc32(std::uint32_t crc, const void *data, std::size_t size) {
    auto p = static_cast<const unsigned char *>(data);
    crc = ~crc;
    for (; size >= 8; size -= 8, p += 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        word ^= crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; k++)
            crc ^= crc_tables[7 - k][word >> (8 * k) & 0xff];
    }
    for (; size > 0; size--, p++)
        crc = crc >> 8 ^ crc_tables[0][(crc ^ *p) & 0xff];
    return ~crc;
}

// object collects the members of a JSON object.
class object {
  public:
    object &raw(const char *name, const std::string &json) {
        body += (body.empty() ? "" : ",") + quote(name) + ":" + json;
        return *this;
    }
    object &text(const char *name, const std::string &v) { return v.empty() ? *this : raw(name, quote(v)); }
    object &number(const char *name, std::int64_t v) { return raw(name, std::to_string(v)); }
    object &number(const char *name, const std::optional<std::int64_t> &v) { return v ? number(name, *v) : *this; }
    object &map(const char *name, const settings &all) {
        object o;
        for (const auto &[key, v] : all)
            o.raw(key.c_str(), quote(v));
        return raw(name, o.str());
    }
    std::string str() const { return "{" + body + "}"; }

  private:
    std::string body;
};

} // namespace

protocol::protocol() {
    for (const int fd : {messages, commands, frame})
        if (::fcntl(fd, F_GETFD) < 0)
            throw std::runtime_error("descriptor " + std::to_string(fd) + " is not open; this program is started by pairbench collect");
}

void protocol::send(const std::string &line) {
    try {
        const std::string whole = line + "\n";
        write_all(messages, whole.data(), whole.size());
    } catch (const std::runtime_error &e) {
        throw collector_gone(std::string("send message: ") + e.what());
    }
}

void protocol::hello(const settings &versions) {
    object body;
    body.number("protocol", std::int64_t{1});
    for (const auto &[key, v] : versions)
        if (key == "driver")
            body.text("driver", v);
    body.map("versions", versions);
    send(object().text("type", "hello").raw("hello", body.str()).str());
}

void protocol::say(const char *type) { send(object().text("type", type).str()); }

void protocol::end(const result &r) {
    object body;
    body.number("measured_operations", r.measured_operations)
        .number("warmup_operations", r.warmup_operations)
        .number("errors", r.errors)
        .number("incomplete", r.incomplete)
        .number("warmup_errors", r.warmup_errors)
        .text("first_error", r.first_error)
        .number("elapsed_ns", r.elapsed_ns)
        .number("cpu_interval_ns", r.cpu_interval_ns)
        .number("cpu_process_ns", r.cpu_process_ns)
        .number("peak_rss_bytes", r.peak_rss_bytes)
        .number("p50_ns", r.p50_ns)
        .number("p99_ns", r.p99_ns)
        .number("samples", r.samples)
        .number("clock_tick_ns", r.clock_tick_ns)
        .text("client_cpus", r.client_cpus)
        .map("runtime", r.runtime);
    send(object().text("type", "end").raw("end", body.str()).str());
}

void protocol::error(const std::string &text) noexcept {
    try {
        send(object().text("type", "error").text("error", text).str());
    } catch (...) { // the collector is gone and does not hear it
    }
}

std::string protocol::line() {
    for (;;) {
        if (const auto end = unread.find('\n'); end != unread.npos) {
            std::string line = unread.substr(0, end);
            unread.erase(0, end + 1);
            return line;
        }
        if (unread.size() > max_line_bytes)
            throw std::runtime_error("command line is longer than " + std::to_string(max_line_bytes) + " bytes");
        char buf[4096];
        const ssize_t n = ::read(commands, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            throw std::runtime_error(std::string("read command: ") + std::strerror(errno));
        if (n == 0)
            throw collector_gone("collector is gone");
        unread.append(buf, static_cast<std::size_t>(n));
    }
}

void protocol::wait(const char *command) {
    const json got = json::parse(line());
    const json *type = got.find("type");
    if (!type || !type->text() || *type->text() != command)
        throw std::runtime_error(std::string("wait for ") + command + ": got " +
                                 (type && type->text() ? quote(*type->text()) : "no type"));
}

void protocol::samples(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> latency_ns) {
    struct {
        char magic[8] = {'P', 'B', 'S', 'A', 'M', 'P', 'L', 'E'};
        std::uint32_t version = 1, columns = 2;
        std::uint64_t count, reserved = 0;
    } head;
    static_assert(sizeof head == 32);
    head.count = start_ns.size();
    std::uint32_t crc = 0;
    const auto put = [&crc](const void *data, std::size_t size) {
        crc = crc32(crc, data, size);
        write_all(frame, data, size);
    };
    put(&head, sizeof head);
    put(start_ns.data(), start_ns.size_bytes());
    put(latency_ns.data(), latency_ns.size_bytes());
    write_all(frame, &crc, sizeof crc);
}

} // namespace pairbench
