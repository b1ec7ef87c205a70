// One C++20 coroutine per task, waiting for an Asio timer.
#include <asio.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

// One thread runs the context, so plain integers suffice.
unsigned started, finished;

asio::awaitable<void> task(unsigned tasks, std::chrono::seconds wait) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    asio::steady_timer timer(co_await asio::this_coro::executor, wait);
    co_await timer.async_wait(asio::use_awaitable);
    ++finished;
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1));
    std::chrono::seconds wait(std::stoul(args.at(2)));

    asio::io_context context;
    for (unsigned i = 0; i < tasks; ++i) {
        asio::co_spawn(context, task(tasks, wait), asio::detached);
    }
    context.run();

    std::cout << "done " << finished << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
