// The C++ driver: TCP echo on Boost.Asio or standalone Asio, in callbacks or
// C++20 coroutines. It speaks the driver protocol and is started by pairbench
// collect.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "echo.hpp"
#include "flavour.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "protocol.hpp"

namespace pairbench {
namespace {

std::string dotted(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

settings versions() {
    settings v{{"driver", driver_name},
               {"asio", dotted(asio_version / 100000, asio_version / 100 % 1000, asio_version % 100)},
               {"g++", dotted(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)},
               {"c++", std::to_string(__cplusplus)}};
#ifdef PAIRBENCH_BOOST
    v.emplace_back("boost", dotted(BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100));
#endif
    return v;
}

result describe(const job &j, phase &warm, phase &p, recorder &samples, std::int64_t cpu_ns) {
    result r;
    r.cpu_interval_ns = cpu_ns;
    samples.sort();
    r.measured_operations = p.delivered * j.in_flight;
    r.warmup_operations = warm.delivered * j.in_flight;
    r.errors = p.errors;
    r.incomplete = p.lost;
    r.warmup_errors = warm.errors + warm.lost;
    r.first_error = !warm.first.empty() ? warm.first : p.first;
    r.samples = static_cast<std::int64_t>(samples.size());
    r.elapsed_ns = r.samples > 0 ? samples.starts().back() + samples.latencies().back() : p.now();
    r.clock_tick_ns = clock_tick_ns();
    r.p50_ns = nearest_rank(samples.latencies(), 50);
    r.p99_ns = nearest_rank(samples.latencies(), 99);
    r.client_cpus = affinity();
    r.runtime = {{"arm", j.coroutine ? "coroutine" : "callback"},
                 {"threads", std::to_string(j.threads)},
                 {"io", "one io_context, run by all threads"},
                 {"sample_memory_exceeded", samples.exceeded() ? "true" : "false"}};
    r.peak_rss_bytes = peak_rss_bytes();
    r.cpu_process_ns = process_cpu_ns();
    return r;
}

void measure(protocol &collector, const job &j) {
    pin(j.client_cpus);
    recorder samples(sample_memory(j), j.measure.operations > 0);
    echo work(j);
    phase warm(j.warmup, j.in_flight, nullptr), measured(j.measure, j.in_flight, &samples);
    if (j.warmup.operations > 0 || j.warmup.duration_ns > 0)
        work.run(warm);
    warm.lose_rest();
    collector.say("ready");
    collector.wait("go");
    collector.say("begin");
    const std::int64_t before = process_cpu_ns();
    work.run(measured);
    const std::int64_t cpu_ns = process_cpu_ns() - before;
    measured.lose_rest();
    if (!work.worked())
        throw std::runtime_error("the server left out steps of its work");
    collector.end(describe(j, warm, measured, samples, cpu_ns));
    collector.samples(samples.starts(), samples.latencies());
    collector.say("done");
    collector.wait("exit");
}

int drive() {
    const char *path = std::getenv("PAIRBENCH_JOB");
    if (!path) {
        std::fprintf(stderr, "%s: PAIRBENCH_JOB is not set; this program is started by pairbench collect\n", driver_name);
        return 2;
    }
    protocol collector;
    try {
        collector.hello(versions());
        measure(collector, read_job(path));
        return 0;
    } catch (const collector_gone &) {
        throw;
    } catch (const std::exception &e) {
        collector.error(e.what());
        throw;
    }
}

int run(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
        for (const auto &[name, version] : versions())
            std::printf("%s %s\n", name.c_str(), version.c_str());
        return 0;
    }
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return drive();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s: %s\n", driver_name, e.what());
        return 1;
    }
}

} // namespace
} // namespace pairbench

int main(int argc, char **argv) { return pairbench::run(argc, argv); }
