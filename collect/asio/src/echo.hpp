// TCP echo, client and server in one process, on one io_context.
#pragma once

#include <atomic>
#include <deque>

#include "exchange.hpp"
#include "flavour.hpp"
#include "job.hpp"
#include "measure.hpp"

namespace pairbench {

using tcp = net::ip::tcp;

// echo holds all connections, and both sides of them where the server is in
// this process. Its arms differ in how a side is written: as completion
// functions, or as a C++20 coroutine.
class echo {
  public:
    // The constructor connects; it throws std::exception.
    explicit echo(const job &j);

    // run has every connection send until p has no more permits. Nothing runs
    // when it returns.
    void run(phase &p);

    // worked says whether the server did all its work.
    bool worked() const;

  private:
    struct client : exchange {
        client(const job &j, std::uint64_t id, tcp::socket s) : exchange(j, id), socket(std::move(s)) {}
        tcp::socket socket;
    };
    struct server : service {
        server(const job &j, std::uint64_t id, tcp::socket s) : service(j, id), socket(std::move(s)) {}
        tcp::socket socket;
    };

    void connect();

    // callback arm
    void ask(client &c);
    void take(client &c);
    void answer(server &s);

    // coroutine arm
    net::awaitable<void> asking(client &c);
    net::awaitable<void> answering(server &s);

    void finished();
    void watch(phase &p, std::int64_t seen);

    const job &j;
    net::io_context io;
    net::steady_timer stall{io};
    std::deque<client> clients;
    std::deque<server> servers;
    std::atomic<std::size_t> active{0};
};

} // namespace pairbench
