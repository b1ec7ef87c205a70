// A ring of C++20 coroutines, each passing tokens from its Asio channel to the next.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

// A token is the number of hops left.
using Channel = asio::experimental::channel<void(asio::error_code, unsigned)>;

// One thread runs the context, so plain integers suffice.
unsigned started;

struct Ring {
    std::vector<Channel> channels;
    Channel all_alive;
    Channel noted;
};

asio::awaitable<void> task(unsigned number, Ring& ring) {
    auto& own = ring.channels[number];
    auto& next = ring.channels[(number + 1) % ring.channels.size()];
    if (++started == ring.channels.size()) {
        std::cout << "alive " << started << std::endl;
        ring.all_alive.try_send(asio::error_code{}, started);
    }
    for (;;) {
        asio::error_code closed;
        unsigned hops = co_await own.async_receive(asio::redirect_error(asio::use_awaitable, closed));
        if (closed) co_return;
        if (hops > 0) {
            co_await next.async_send(asio::error_code{}, hops - 1, asio::use_awaitable);
        } else {
            co_await ring.noted.async_send(asio::error_code{}, number, asio::use_awaitable);
        }
    }
}

asio::awaitable<void> run(unsigned tasks, unsigned operations, unsigned tokens, Ring& ring) {
    co_await ring.all_alive.async_receive(asio::use_awaitable);
    std::cout << "ready" << std::endl;

    for (std::uint64_t token = 0; token < tokens; ++token) {
        // The first tokens take the remainder.
        unsigned hops = operations / tokens + (token < operations % tokens);
        co_await ring.channels[token * tasks / tokens].async_send(asio::error_code{}, hops, asio::use_awaitable);
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += co_await ring.noted.async_receive(asio::use_awaitable);
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : ring.channels) channel.close();
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));
    unsigned tokens = args.size() > 4 ? std::stoul(args[4]) : 1;  // after --tokens

    asio::io_context context;
    Ring ring{{}, Channel(context, 1), Channel(context, 1)};
    ring.channels.reserve(tasks);
    for (unsigned i = 0; i < tasks; ++i) ring.channels.emplace_back(context, 1);
    for (unsigned i = 0; i < tasks; ++i) asio::co_spawn(context, task(i, ring), asio::detached);
    asio::co_spawn(context, run(tasks, operations, tokens, ring), asio::detached);
    context.run();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
