// The bytes that both arms exchange: what a client sends and compares, what the
// server works for each message.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "flavour.hpp"
#include "job.hpp"
#include "measure.hpp"

namespace pairbench {

// exchange is the client's half of one connection: it writes a batch of messages,
// takes what comes back and compares it. One thread at a time may use it.
class exchange {
  public:
    exchange(const job &j, std::uint64_t id)
        : size(static_cast<std::size_t>(j.payload_bytes)), out(j.batch_bytes()), in(j.batch_bytes() + 1) {
        std::uint64_t state = static_cast<std::uint64_t>(j.seed) ^ (id + 1) * 0x9e3779b97f4a7c15;
        for (char &c : out) { // splitmix64: the payload comes from seed and id alone
            std::uint64_t z = state += 0x9e3779b97f4a7c15;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
            z = (z ^ z >> 27) * 0x94d049bb133111eb;
            c = static_cast<char>(z >> 56);
        }
    }

    phase *current = nullptr;
    bool dead = false; // the connection failed

    // begin takes a permit and makes the next batch ready in out. Every message
    // starts with a number of its own, so that a reply to another is found out.
    bool begin() {
        if (dead || !current->permit())
            return false;
        for (std::size_t at = 0; at < out.size(); at += size) {
            stamp++;
            std::memcpy(&out[at], &stamp, sizeof stamp);
        }
        got = 0;
        in_flight = true;
        started = current->now();
        return true;
    }

    net::const_buffer batch() const { return net::buffer(out); }

    // room is where the next reply bytes belong, with a byte for a surplus.
    net::mutable_buffer room() { return net::buffer(in.data() + got, in.size() - got); }

    // received takes n more bytes in room and says whether the batch is over,
    // well or not.
    bool received(std::size_t n) {
        got += n;
        if (got < out.size())
            return false;
        in_flight = false;
        if (got > out.size())
            broken(std::to_string(out.size()) + " bytes sent, more came back");
        else if (std::memcmp(in.data(), out.data(), out.size()) == 0)
            current->deliver(started);
        else
            mismatch();
        return true;
    }

    // broken ends the connection after an error: everything in flight failed.
    void broken(const std::string &cause) {
        dead = true;
        in_flight = false;
        current->fail(current->batch, cause);
    }

    void broken_read(const std::string &cause) {
        broken("read after " + std::to_string(got) + " of " + std::to_string(out.size()) + " bytes: " + cause);
    }

    // abandon ends the connection of a batch that is still in flight when its
    // phase has been given up.
    void abandon() {
        if (!in_flight)
            return;
        dead = true;
        in_flight = false;
        current->lose(current->batch, "no reply in time");
    }

  private:
    // mismatch counts the messages that came back wrong. The others of the batch
    // are no operations either: the batch has no sample.
    void mismatch() {
        for (std::size_t at = 0; at < out.size(); at += size)
            for (std::size_t i = at; i < at + size; i++)
                if (in[i] != out[i]) {
                    std::uint64_t message;
                    std::memcpy(&message, &out[at], sizeof message);
                    current->fail(1, "message " + std::to_string(message) + ": reply differs at byte " + std::to_string(i - at));
                    break;
                }
    }

    const std::size_t size; // bytes of a message
    std::vector<char> out, in;
    std::size_t got = 0;
    std::uint64_t stamp = 0;
    std::int64_t started = 0;
    bool in_flight = false;
};

// service is the server's half of one connection.
class service {
  public:
    service(const job &j, std::uint64_t id)
        : buffer(j.batch_bytes() + 1), size(static_cast<std::size_t>(j.payload_bytes)), iterations(static_cast<std::uint64_t>(j.work)),
          seed(id + 1), state(seed) {}

    std::vector<char> buffer;

    // serve does the work of the messages that end within the next n bytes; the
    // bytes may go back after it. A step needs the one before.
    void serve(std::size_t n) {
        for (partial += n; partial >= size; partial -= size) {
            messages++;
            std::uint64_t x = state;
            for (std::uint64_t i = 0; i < iterations; i++)
                x = x * step_factor + step_add;
            state = x;
        }
    }

    // worked says whether all work was done: it skips to the end of the steps by
    // squaring the step.
    bool worked() const {
        std::uint64_t x = seed, factor = step_factor, add = step_add;
        for (std::uint64_t n = messages * iterations; n > 0; n >>= 1) {
            if (n & 1)
                x = x * factor + add;
            add *= factor + 1;
            factor *= factor;
        }
        return x == state;
    }

  private:
    static constexpr std::uint64_t step_factor = 6364136223846793005, step_add = 1442695040888963407;
    const std::size_t size; // bytes of a message
    const std::uint64_t iterations, seed;
    std::size_t partial = 0;
    std::uint64_t messages = 0, state;
};

} // namespace pairbench
