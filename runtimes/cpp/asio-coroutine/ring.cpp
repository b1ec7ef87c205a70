// One C++20 coroutine per place in a ring, each handing on the tokens that come through its Asio channel.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

namespace {

// A token is the number of hops that it has left.
using Channel = asio::experimental::channel<void(asio::error_code, unsigned)>;

struct Arguments {
    unsigned tasks, operations, tokens;
};

// One thread runs the context, so plain numbers do.
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

asio::awaitable<void> lead(Arguments given, Ring& ring) {
    auto [tasks, operations, tokens] = given;
    co_await ring.all_alive.async_receive(asio::use_awaitable);
    std::cout << "ready" << std::endl;

    for (std::uint64_t token = 0; token < tokens; ++token) {
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        unsigned hops = operations / tokens + (token < operations % tokens);
        co_await ring.channels[token * tasks / tokens].async_send(asio::error_code{}, hops, asio::use_awaitable);
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += co_await ring.noted.async_receive(asio::use_awaitable);
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : ring.channels) channel.close();
}

std::optional<unsigned> parse(std::string_view text) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Arguments> arguments(int argc, char** argv) {
    if (argc != 3 && !(argc == 5 && std::string_view(argv[3]) == "--tokens")) return std::nullopt;
    auto tasks = parse(argv[1]), operations = parse(argv[2]), tokens = parse(argc == 5 ? argv[4] : "1");
    if (!tasks || !operations || !tokens) return std::nullopt;
    if (*operations == 0 || *tokens == 0 || *tokens > *tasks / 2) return std::nullopt;
    return Arguments{*tasks, *operations, *tokens};
}

}  // namespace

int main(int argc, char** argv) {
    auto given = arguments(argc, argv);
    if (!given) {
        std::cerr << "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, "
                     "at most half as many tokens as tasks\n";
        return 2;
    }

    asio::io_context context;
    Ring ring{{}, Channel(context, 1), Channel(context, 1)};
    ring.channels.reserve(given->tasks);
    for (unsigned i = 0; i < given->tasks; ++i) ring.channels.emplace_back(context, 1);
    for (unsigned i = 0; i < given->tasks; ++i) asio::co_spawn(context, task(i, ring), asio::detached);
    asio::co_spawn(context, lead(*given, ring), asio::detached);
    context.run();
}
