// One C++20 coroutine per operation, created and joined for its result, on Asio.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

asio::awaitable<std::uint64_t> task(unsigned number) {
    co_await asio::post(asio::use_awaitable);  // otherwise the task would complete within co_spawn
    co_return number;
}

asio::awaitable<std::uint64_t> rounds(unsigned tasks, unsigned operations) {
    auto executor = co_await asio::this_coro::executor;
    asio::experimental::channel<void(asio::error_code, std::uint64_t)> joined(executor, 1);
    std::uint64_t total = 0;
    for (unsigned done = 0; done < operations;) {
        unsigned round = std::min(tasks, operations - done);
        unsigned running = round;
        std::uint64_t sum = 0;
        auto join = [&](std::exception_ptr, std::uint64_t number) {
            sum += number;
            if (--running == 0) joined.try_send(asio::error_code{}, sum);
        };
        for (unsigned i = 0; i < round; ++i) asio::co_spawn(executor, task(done + i), join);
        total += co_await joined.async_receive(asio::use_awaitable);
        done += round;
    }
    co_return total;
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));

    asio::io_context context;
    std::cout << "ready" << std::endl;
    asio::co_spawn(context, rounds(tasks, operations), [&](std::exception_ptr, std::uint64_t sum) {
        std::cout << "done " << operations << "\ncheck " << sum << '\n';
    });
    context.run();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
