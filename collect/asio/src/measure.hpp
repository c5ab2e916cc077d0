// What is measured: clocks, memory, samples, and the phase that counts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job.hpp"

namespace pairbench {

inline std::int64_t read_clock(clockid_t id) {
    timespec t;
    ::clock_gettime(id, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline std::int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// clock_tick_ns is the smallest step seen on the clock.
std::int64_t clock_tick_ns();

// peak_rss_bytes is VmHWM, which what started this process cannot raise.
std::optional<std::int64_t> peak_rss_bytes();

// pin keeps the process on the processors; it throws std::runtime_error.
void pin(const std::vector<int> &cpus);

// affinity is the processors that the process may use: 0,2-3.
std::string affinity();

// nearest_rank is the k-th smallest with k = max(1, ceil(percent/100 * n)),
// found without memory of its own; there is none without values.
std::optional<std::int64_t> nearest_rank(std::span<const std::int64_t> values, int percent);

// recorder keeps the samples in memory that was touched before the interval.
class recorder {
  public:
    // A count that is only expected leaves address space for many times as much.
    recorder(std::int64_t expected, bool exact);
    ~recorder();
    recorder(const recorder &) = delete;
    recorder &operator=(const recorder &) = delete;

    // record may be called from any thread; false: the memory is full.
    bool record(std::int64_t start, std::int64_t end) {
        const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= capacity)
            return false;
        start_ns[i] = start;
        latency_ns[i] = end - start;
        return true;
    }

    std::size_t size() const { return std::min(next.load(), capacity); }
    bool exceeded() const { return size() > expected; }
    // sort brings the samples into the order of completion.
    void sort();
    std::span<const std::int64_t> starts() const { return {start_ns, size()}; }
    std::span<const std::int64_t> latencies() const { return {latency_ns, size()}; }

  private:
    std::size_t capacity, expected;
    std::int64_t *start_ns, *latency_ns;
    std::atomic<std::size_t> next{0};
};

// sample_memory is how many samples to expect. For a duration it depends on the
// job alone, so that both sides of a pair have the same memory.
std::int64_t sample_memory(const job &j);

// phase is the warm-up or the measurement: it hands out permits for one batch
// each and takes what came of them. Times are ns since its start.
class phase {
  public:
    phase(const amount &a, std::int64_t batch, recorder *samples)
        : batch(batch), duration(a.duration_ns), samples(samples), permits(a.operations / batch) {}

    const std::int64_t batch; // operations a permit stands for

    void begin() { zero = read_clock(CLOCK_MONOTONIC); }
    std::int64_t now() const { return read_clock(CLOCK_MONOTONIC) - zero; }

    bool permit() {
        if (stopped.load(std::memory_order_relaxed))
            return false;
        if (duration > 0)
            return now() < duration;
        return permits.fetch_sub(1, std::memory_order_relaxed) > 0;
    }

    void deliver(std::int64_t start) {
        const std::int64_t end = now();
        if (samples && !samples->record(start, end)) {
            fail(batch, "the memory for samples is full");
            return;
        }
        delivered.fetch_add(1, std::memory_order_relaxed);
    }

    void fail(std::int64_t operations, const std::string &cause) {
        errors += operations;
        note(cause);
    }

    void lose(std::int64_t operations, const std::string &cause) {
        lost += operations;
        note(cause);
    }

    // lose_rest counts the operations of permits that nobody could take.
    void lose_rest() {
        if (const auto rest = permits.load(); duration == 0 && rest > 0)
            lost += rest * batch;
    }

    std::atomic<bool> stopped{false}; // nothing is delivered any more
    std::atomic<std::int64_t> delivered{0}, errors{0}, lost{0};
    std::string first; // the first cause

  private:
    void note(const std::string &cause) {
        const std::lock_guard lock(mutex);
        if (first.empty())
            first = cause;
    }

    const std::int64_t duration;
    recorder *const samples;
    std::int64_t zero = 0;
    std::atomic<std::int64_t> permits;
    std::mutex mutex;
};

} // namespace pairbench
