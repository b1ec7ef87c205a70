// One C++20 coroutine per task, waiting for one message on an Asio channel.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

namespace {

using Mailbox = asio::experimental::channel<void(asio::error_code, std::monostate)>;

// One thread runs the context, so plain integers suffice.
unsigned started, finished;

asio::awaitable<void> task(unsigned tasks, Mailbox& mailbox) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    co_await mailbox.async_receive(asio::use_awaitable);
    ++finished;
}

}  // namespace

int main(int argc, char** argv) try {
    auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1));
    std::chrono::seconds wait(std::stoul(args.at(2)));

    asio::io_context context;
    std::vector<Mailbox> mailboxes;
    mailboxes.reserve(tasks);
    for (unsigned i = 0; i < tasks; ++i) {
        auto& mailbox = mailboxes.emplace_back(context, 1);
        asio::co_spawn(context, task(tasks, mailbox), asio::detached);
    }
    asio::steady_timer due(context, begin + wait);
    due.async_wait([&](asio::error_code) {
        for (auto& mailbox : mailboxes) mailbox.try_send(asio::error_code{}, std::monostate{});
    });
    context.run();

    std::cout << "done " << finished << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
