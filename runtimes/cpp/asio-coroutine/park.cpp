// One C++20 coroutine per task, waiting for one message on an Asio channel.
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace {

using Mailbox = asio::experimental::channel<void(asio::error_code, std::monostate)>;

// One thread runs the context, so plain numbers do.
unsigned started, finished;

asio::awaitable<void> task(unsigned tasks, Mailbox& mailbox) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    co_await mailbox.async_receive(asio::use_awaitable);
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
    auto begin = std::chrono::steady_clock::now();
    auto tasks = argc == 3 ? parse(argv[1]) : std::nullopt;
    auto seconds = argc == 3 ? parse(argv[2]) : std::nullopt;
    if (!tasks || !seconds || *tasks == 0) {
        std::cerr << "usage: park <tasks> <seconds>: whole numbers, at least one task\n";
        return 2;
    }

    asio::io_context context;
    std::vector<Mailbox> mailboxes;
    mailboxes.reserve(*tasks);
    for (unsigned i = 0; i < *tasks; ++i) {
        auto& mailbox = mailboxes.emplace_back(context, 1);
        asio::co_spawn(context, task(*tasks, mailbox), asio::detached);
    }
    asio::steady_timer due(context, begin + std::chrono::seconds(*seconds));
    due.async_wait([&](asio::error_code) {
        for (auto& mailbox : mailboxes) mailbox.try_send(asio::error_code{}, std::monostate{});
    });
    context.run();

    std::cout << "done " << finished << '\n';
}
