#include "measure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <sched.h>
#include <sys/mman.h>

namespace pairbench {

std::int64_t clock_tick_ns() {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = read_clock(CLOCK_MONOTONIC);
    for (int i = 0; i < 2000; i++) {
        const std::int64_t now = read_clock(CLOCK_MONOTONIC);
        if (now > last)
            smallest = std::min(smallest, now - last);
        last = now;
    }
    return smallest;
}

std::optional<std::int64_t> peak_rss_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") {
            std::int64_t kib = 0;
            if (status >> kib)
                return kib * 1024;
        }
    return std::nullopt;
}

void pin(const std::vector<int> &cpus) {
    if (cpus.empty())
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::runtime_error(std::string("pin to the processors of client_cpus: ") + std::strerror(errno));
}

std::string affinity() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        return "";
    const auto held = [&set](int cpu) { return cpu < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(cpu), &set); };
    std::string list;
    for (int from = 0; from < CPU_SETSIZE; from++) {
        if (!held(from))
            continue;
        int to = from;
        while (held(to + 1))
            to++;
        list += (list.empty() ? "" : ",") + std::to_string(from);
        if (to > from)
            list += "-" + std::to_string(to);
        from = to;
    }
    return list;
}

std::optional<std::int64_t> nearest_rank(std::span<const std::int64_t> values, int percent) {
    if (values.empty())
        return std::nullopt;
    std::size_t rank = std::max<std::size_t>(1, (values.size() * static_cast<std::size_t>(percent) + 99) / 100);
    // The value grows from its highest bits: count the candidates with each next
    // digit, and go on with the digit that holds the rank.
    constexpr int digit = 8, top = 64 - digit;
    std::uint64_t known = 0, mask = 0;
    for (int shift = top; shift >= 0; shift -= digit) {
        std::size_t counts[1 << digit] = {};
        for (const std::int64_t v : values)
            if ((static_cast<std::uint64_t>(v) & mask) == known)
                counts[static_cast<std::uint64_t>(v) >> shift & 0xff]++;
        std::uint64_t d = 0;
        while (rank > counts[d])
            rank -= counts[d++];
        known |= d << shift;
        mask |= std::uint64_t{0xff} << shift;
    }
    return static_cast<std::int64_t>(known);
}

recorder::recorder(std::int64_t wanted, bool exact) {
    constexpr std::size_t overflow_factor = 20, max_touched = 4 << 20, max_samples = 1 << 30;
    constexpr std::size_t page = 4096 / sizeof(std::int64_t);
    expected = capacity = static_cast<std::size_t>(wanted);
    if (!exact) {
        capacity = std::min(capacity, max_samples / overflow_factor) * overflow_factor;
        expected = std::min(expected, max_touched);
    }
    void *memory = ::mmap(nullptr, 2 * capacity * sizeof(std::int64_t), PROT_READ | PROT_WRITE,
                          MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::runtime_error("reserve memory for " + std::to_string(capacity) + " samples: " + std::strerror(errno));
    start_ns = static_cast<std::int64_t *>(memory);
    latency_ns = start_ns + capacity;
    for (std::size_t i = 0; i < expected; i += page)
        start_ns[i] = latency_ns[i] = 1;
}

recorder::~recorder() { ::munmap(start_ns, 2 * capacity * sizeof(std::int64_t)); }

void recorder::sort() {
    // Threads race only for neighbouring places: insertion is linear here, and
    // needs no memory that would count as the workload's.
    const auto end = [this](std::size_t i) { return start_ns[i] + latency_ns[i]; };
    for (std::size_t i = 1, n = size(); i < n; i++) {
        const std::int64_t start = start_ns[i], latency = latency_ns[i];
        std::size_t j = i;
        for (; j > 0 && end(j - 1) > start + latency; j--) {
            start_ns[j] = start_ns[j - 1];
            latency_ns[j] = latency_ns[j - 1];
        }
        start_ns[j] = start;
        latency_ns[j] = latency;
    }
}

std::int64_t sample_memory(const job &j) {
    if (j.measure.operations > 0)
        return j.measure.operations / j.in_flight;
    constexpr std::int64_t many_per_second = 200'000, few_per_second = 50'000;
    return std::max(many_per_second / j.in_flight, few_per_second) * (j.measure.duration_ns / 1'000'000'000 + 1);
}

} // namespace pairbench
