#include "echo.hpp"

#include <chrono>
#include <thread>

namespace pairbench {

echo::echo(const job &j) : j(j), io(static_cast<int>(j.threads)) {
    connect();
    for (server &s : servers) {
        if (j.coroutine)
            net::co_spawn(io, answering(s), net::detached);
        else
            answer(s);
    }
}

void echo::connect() {
    tcp::acceptor acceptor(io);
    tcp::endpoint to;
    if (j.host.empty()) {
        to = tcp::endpoint(net::ip::address_v4::loopback(), 0);
        acceptor.open(to.protocol());
        acceptor.bind(to);
        acceptor.listen();
        to = acceptor.local_endpoint();
    } else {
        to = tcp::resolver(io).resolve(j.host, j.port)->endpoint();
    }
    for (std::uint64_t id = 0; id < static_cast<std::uint64_t>(j.connections); id++) {
        tcp::socket socket(io);
        socket.connect(to);
        socket.set_option(tcp::no_delay(true));
        clients.emplace_back(j, id, std::move(socket));
        if (!acceptor.is_open())
            continue;
        tcp::socket accepted = acceptor.accept();
        accepted.set_option(tcp::no_delay(true));
        servers.emplace_back(j, id, std::move(accepted));
    }
}

void echo::run(phase &p) {
    io.restart();
    p.begin();
    active = 0;
    for (client &c : clients) {
        c.current = &p;
        if (!c.dead)
            active++;
    }
    if (active == 0)
        return;
    for (client &c : clients) {
        if (c.dead)
            continue;
        if (j.coroutine)
            net::co_spawn(io, asking(c), net::detached);
        else
            net::post(io, [this, &c] { ask(c); });
    }
    watch(p, 0);
    std::vector<std::jthread> workers;
    for (std::int64_t i = 1; i < j.threads; i++)
        workers.emplace_back([this] { io.run(); });
    io.run();
    workers.clear();
    stall.cancel();
    for (client &c : clients)
        c.abandon();
}

// finished ends the phase with its last client.
void echo::finished() {
    if (active.fetch_sub(1) == 1)
        io.stop();
}

// watch gives the phase up when nothing is delivered for the request limit.
void echo::watch(phase &p, std::int64_t seen) {
    stall.expires_after(std::chrono::milliseconds(j.request_limit_ms));
    stall.async_wait([this, &p, seen](error_code ec) {
        if (ec)
            return;
        if (const std::int64_t now = p.delivered; now != seen) {
            watch(p, now);
            return;
        }
        p.stopped = true;
        io.stop();
    });
}

bool echo::worked() const {
    for (const server &s : servers)
        if (!s.worked())
            return false;
    return true;
}

void echo::ask(client &c) {
    if (!c.begin()) {
        finished();
        return;
    }
    net::async_write(c.socket, c.batch(), [this, &c](error_code ec, std::size_t) {
        if (ec) {
            c.broken("write: " + ec.message());
            finished();
            return;
        }
        take(c);
    });
}

void echo::take(client &c) {
    c.socket.async_read_some(c.room(), [this, &c](error_code ec, std::size_t n) {
        if (ec) {
            c.broken_read(ec.message());
            finished();
        } else if (c.received(n)) {
            ask(c);
        } else {
            take(c);
        }
    });
}

void echo::answer(server &s) {
    s.socket.async_read_some(net::buffer(s.buffer), [this, &s](error_code ec, std::size_t n) {
        if (ec)
            return;
        s.serve(n);
        net::async_write(s.socket, net::buffer(s.buffer, n), [this, &s](error_code ec, std::size_t) {
            if (!ec)
                answer(s);
        });
    });
}

net::awaitable<void> echo::asking(client &c) {
    error_code ec;
    auto token = net::redirect_error(net::use_awaitable, ec);
    while (c.begin()) {
        co_await net::async_write(c.socket, c.batch(), token);
        if (ec) {
            c.broken("write: " + ec.message());
            break;
        }
        for (bool over = false; !over;) {
            const std::size_t n = co_await c.socket.async_read_some(c.room(), token);
            if (ec) {
                c.broken_read(ec.message());
                break;
            }
            over = c.received(n);
        }
    }
    finished();
}

net::awaitable<void> echo::answering(server &s) {
    error_code ec;
    auto token = net::redirect_error(net::use_awaitable, ec);
    for (;;) {
        const std::size_t n = co_await s.socket.async_read_some(net::buffer(s.buffer), token);
        if (ec)
            co_return;
        s.serve(n);
        co_await net::async_write(s.socket, net::buffer(s.buffer, n), token);
        if (ec)
            co_return;
    }
}

} // namespace pairbench
