// The job: what one process has to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pairbench {

// amount is a fixed count of operations or a duration; both zero: none.
struct amount {
    std::int64_t operations = 0;
    std::int64_t duration_ns = 0;
};

struct job {
    bool coroutine = false; // the arm: coroutine, else callback
    amount warmup, measure;
    std::int64_t seed = 0;
    std::int64_t connections = 16;
    std::int64_t in_flight = 1;
    std::int64_t threads = 1;
    std::int64_t work = 0; // compute steps for each message
    std::int64_t payload_bytes = 1024;
    std::int64_t request_limit_ms = 5000; // without any reply, before the phase is given up
    std::vector<int> client_cpus;
    std::string host, port; // empty host: the server is in this process

    std::size_t batch_bytes() const { return static_cast<std::size_t>(in_flight * payload_bytes); }
};

// read_job reads and checks the job file at path; it throws std::runtime_error.
job read_job(const std::string &path);

} // namespace pairbench
