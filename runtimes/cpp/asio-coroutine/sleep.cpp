// One C++20 coroutine per task, waiting for an Asio timer.
#include <asio.hpp>

#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>

namespace {

// One thread runs the context, so plain numbers do.
unsigned started, finished;

asio::awaitable<void> task(unsigned tasks, std::chrono::seconds wait) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    asio::steady_timer timer(co_await asio::this_coro::executor, wait);
    co_await timer.async_wait(asio::use_awaitable);
    ++finished;
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
    auto seconds = argc == 3 ? parse(argv[2]) : std::nullopt;
    if (!tasks || !seconds || *tasks == 0) {
        std::cerr << "usage: sleep <tasks> <seconds>: whole numbers, at least one task\n";
        return 2;
    }

    asio::io_context context;
    for (unsigned i = 0; i < *tasks; ++i) {
        asio::co_spawn(context, task(*tasks, std::chrono::seconds(*seconds)), asio::detached);
    }
    context.run();

    std::cout << "done " << finished << '\n';
}
