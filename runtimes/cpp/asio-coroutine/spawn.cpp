// One C++20 coroutine per operation, made and joined for its result, on Asio.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>

namespace {

asio::awaitable<std::uint64_t> task(unsigned number) {
    co_await asio::post(asio::use_awaitable);  // without it the task would be over within co_spawn
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

std::optional<unsigned> parse(std::string_view text) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

int main(int argc, char** argv) {
    auto tasks = argc == 3 ? parse(argv[1]) : std::nullopt;
    auto operations = argc == 3 ? parse(argv[2]) : std::nullopt;
    if (!tasks || !operations || *tasks == 0 || *operations == 0) {
        std::cerr << "usage: spawn <tasks> <operations>: whole numbers, at least one of each\n";
        return 2;
    }

    asio::io_context context;
    std::cout << "ready" << std::endl;
    asio::co_spawn(context, rounds(*tasks, *operations), [&](std::exception_ptr, std::uint64_t sum) {
        std::cout << "done " << *operations << "\ncheck " << sum << '\n';
    });
    context.run();
}
