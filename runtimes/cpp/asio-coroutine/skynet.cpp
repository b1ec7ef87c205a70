// One C++20 coroutine per node of a tree, each waiting for its ten children, on Asio.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>

namespace {

// Sums the numbers of its leaves, which begin with `first`.
asio::awaitable<std::uint64_t> node(unsigned first, unsigned leaves) {
    if (leaves == 1) {
        co_await asio::post(asio::use_awaitable);  // without it the leaf would be over within co_spawn
        co_return first;
    }
    auto executor = co_await asio::this_coro::executor;
    asio::experimental::channel<void(asio::error_code, std::uint64_t)> joined(executor, 1);
    unsigned running = 10;
    std::uint64_t sum = 0;
    auto join = [&](std::exception_ptr, std::uint64_t of_child) {
        sum += of_child;
        if (--running == 0) joined.try_send(asio::error_code{}, sum);
    };
    unsigned share = leaves / 10;
    for (unsigned i = 0; i < 10; ++i) asio::co_spawn(executor, node(first + i * share, share), join);
    co_return co_await joined.async_receive(asio::use_awaitable);
}

asio::awaitable<std::uint64_t> trees(unsigned count, unsigned leaves) {
    auto executor = co_await asio::this_coro::executor;
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < count; ++i) {
        sum += co_await asio::co_spawn(executor, node(0, leaves), asio::use_awaitable);
    }
    co_return sum;
}

std::optional<unsigned> parse(std::string_view text) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool is_power_of_ten(unsigned number) {
    while (number != 0 && number % 10 == 0) number /= 10;
    return number == 1;
}

}  // namespace

int main(int argc, char** argv) {
    auto tasks = argc == 3 ? parse(argv[1]) : std::nullopt;
    auto operations = argc == 3 ? parse(argv[2]) : std::nullopt;
    if (!tasks || !operations || !is_power_of_ten(*tasks) || *operations == 0 || *operations % *tasks != 0) {
        std::cerr << "usage: skynet <tasks> <operations>: "
                     "whole numbers, tasks a power of ten, operations a multiple of it\n";
        return 2;
    }

    asio::io_context context;
    std::cout << "ready" << std::endl;
    asio::co_spawn(context, trees(*operations / *tasks, *tasks), [&](std::exception_ptr, std::uint64_t sum) {
        std::cout << "done " << *operations << "\ncheck " << sum << '\n';
    });
    context.run();
}
