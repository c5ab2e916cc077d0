#include "job.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <sched.h>

#include "json.hpp"

namespace pairbench {
namespace {

constexpr std::size_t max_job_bytes = 1 << 20;
constexpr std::int64_t max_batch_bytes = 256 << 10;
constexpr std::int64_t stamp_bytes = 8;

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error("job: " + what); }

// member is find with an explicit null as absent.
const json *member(const json *from, const char *name) {
    const json *v = from ? from->find(name) : nullptr;
    return v && !v->is_null() ? v : nullptr;
}

std::int64_t number(const json *v, const std::string &name, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
    if (!v)
        return otherwise;
    const auto n = v->integer();
    if (!n)
        fail(name + " is no whole number");
    if (*n < low || *n > high)
        fail(name + " is " + std::to_string(*n) + ", expected " + std::to_string(low) + " to " + std::to_string(high));
    return *n;
}

std::string text(const json *v, const std::string &name) {
    if (!v)
        return "";
    if (!v->text())
        fail(name + " is no string");
    return *v->text();
}

amount read_amount(const json &source, const char *name, std::int64_t per_sample) {
    const json *v = member(&source, name);
    const std::string where = name;
    amount a;
    a.operations = number(member(v, "operations"), where + " operations", 0, INT64_MAX, 0);
    a.duration_ns = number(member(v, "duration_ns"), where + " duration_ns", 0, INT64_MAX, 0);
    if (a.operations > 0 && a.duration_ns > 0)
        fail(where + " has operations and duration_ns, expected one of them");
    if (a.operations % per_sample != 0)
        fail(where + " is " + std::to_string(a.operations) + " operations, expected a multiple of " +
             std::to_string(per_sample) + ": a sample is that many");
    return a;
}

void split_address(const std::string &address, job &j) {
    const auto colon = address.rfind(':');
    if (colon == address.npos || colon == 0 || colon + 1 == address.size())
        fail("service address is " + quote(address) + ", expected host:port");
    j.host = address.substr(0, colon);
    j.port = address.substr(colon + 1);
    if (j.host.front() == '[' && j.host.back() == ']')
        j.host = j.host.substr(1, j.host.size() - 2);
}

// read_arm returns the setting arm, or else the arm's name.
bool read_arm(const json &source) {
    std::string arm = text(member(member(&source, "settings"), "arm"), "arm");
    if (arm.empty())
        arm = text(member(&source, "arm"), "arm");
    if (arm != "callback" && arm != "coroutine")
        fail("arm is " + quote(arm) + ", expected callback or coroutine (or the setting arm)");
    return arm == "coroutine";
}

job decode(const json &source) {
    if (!source.members())
        fail("is no JSON object");
    job j;
    if (number(member(&source, "protocol"), "protocol", INT64_MIN, INT64_MAX, 0) != 1)
        fail("protocol is not 1");
    if (const auto w = text(member(&source, "workload"), "workload"); w != "tcp_echo")
        fail("workload is " + quote(w) + ", expected tcp_echo");
    j.coroutine = read_arm(source);
    const auto factor = [&](const char *name, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
        const json *v = member(member(&source, "factors"), name);
        if (!v)
            v = member(member(&source, "settings"), name);
        return number(v, name, low, high, otherwise);
    };
    j.connections = factor("connections", 1, 4096, j.connections);
    j.in_flight = factor("in_flight", 1, 1024, j.in_flight);
    j.threads = factor("threads", 1, 256, j.threads);
    j.work = factor("work", 0, 1'000'000'000, j.work);
    j.payload_bytes = factor("payload_bytes", stamp_bytes, max_batch_bytes, j.payload_bytes);
    j.request_limit_ms = factor("request_limit_ms", 1, 3'600'000, j.request_limit_ms);
    if (j.in_flight * j.payload_bytes > max_batch_bytes)
        fail(std::to_string(j.in_flight) + " messages of " + std::to_string(j.payload_bytes) +
             " bytes in flight, expected at most " + std::to_string(max_batch_bytes) + " bytes");
    const auto per_sample = number(member(&source, "operations_per_sample"), "operations_per_sample", 0, INT64_MAX, 0);
    if (per_sample != 0 && per_sample != j.in_flight)
        fail("operations_per_sample is " + std::to_string(per_sample) + ", a sample is " + std::to_string(j.in_flight));
    j.warmup = read_amount(source, "warmup", j.in_flight);
    j.measure = read_amount(source, "measure", j.in_flight);
    if (j.measure.operations == 0 && j.measure.duration_ns == 0)
        fail("measure is empty, expected operations or duration_ns");
    j.seed = number(member(&source, "seed"), "seed", INT64_MIN, INT64_MAX, 0);
    if (const json *cpus = member(&source, "client_cpus")) {
        if (!cpus->elements())
            fail("client_cpus is no list");
        for (const json &cpu : *cpus->elements())
            j.client_cpus.push_back(static_cast<int>(number(&cpu, "client_cpus", 0, CPU_SETSIZE - 1, 0)));
    }
    if (const json *service = member(&source, "service")) {
        split_address(text(member(service, "address"), "service address"), j);
        if (j.work > 0)
            fail("work is " + std::to_string(j.work) + ", expected 0 with a service: only the server in this process works");
    }
    return j;
}

} // namespace

job read_job(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("read job " + path + ": cannot open it");
    std::string source(max_job_bytes + 1, '\0');
    file.read(source.data(), static_cast<std::streamsize>(source.size()));
    source.resize(static_cast<std::size_t>(file.gcount()));
    if (source.size() > max_job_bytes)
        throw std::runtime_error("read job " + path + ": more than " + std::to_string(max_job_bytes) + " bytes");
    return decode(json::parse(source));
}

} // namespace pairbench
