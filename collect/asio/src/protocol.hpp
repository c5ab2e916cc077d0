// The driver's end of the driver protocol: messages on descriptor 3, commands on
// 4, the sample frame on 5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pairbench {

using settings = std::vector<std::pair<std::string, std::string>>;

// result is what the driver counted; its fields are those of the end message.
struct result {
    std::int64_t measured_operations = 0, warmup_operations = 0;
    std::int64_t errors = 0, incomplete = 0, warmup_errors = 0;
    std::string first_error;
    std::int64_t elapsed_ns = 0, samples = 0, clock_tick_ns = 0;
    std::optional<std::int64_t> cpu_interval_ns, cpu_process_ns, peak_rss_bytes, p50_ns, p99_ns;
    std::string client_cpus;
    settings runtime;
};

// collector_gone is thrown when there is nobody left to work for.
struct collector_gone : std::runtime_error {
    using runtime_error::runtime_error;
};

class protocol {
  public:
    // The constructor throws std::runtime_error unless all descriptors are open.
    protocol();

    void hello(const settings &versions);
    void say(const char *type); // ready, begin and done
    void end(const result &r);
    void error(const std::string &text) noexcept;
    // wait returns when the command came, and throws when another did.
    void wait(const char *command);
    // samples writes the frame.
    void samples(std::span<const std::int64_t> start_ns, std::span<const std::int64_t> latency_ns);

  private:
    void send(const std::string &line);
    std::string line();
    std::string unread;
};

} // namespace pairbench
