// A tree of C++20 coroutines, each waiting for its ten children, on Asio.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Sums first, ..., first + leaves - 1.
asio::awaitable<std::uint64_t> node(unsigned first, unsigned leaves) {
    if (leaves == 1) {
        co_await asio::post(asio::use_awaitable);  // otherwise the leaf would complete within co_spawn
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

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));

    asio::io_context context;
    std::cout << "ready" << std::endl;
    asio::co_spawn(context, trees(operations / tasks, tasks), [&](std::exception_ptr, std::uint64_t sum) {
        std::cout << "done " << operations << "\ncheck " << sum << '\n';
    });
    context.run();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
