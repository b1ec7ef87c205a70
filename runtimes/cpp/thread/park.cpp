// One std::thread, which is a thread of the operating system, per task, each waiting for a promise.
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned> started, finished;

void task(unsigned tasks, std::future<void> mailbox) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    mailbox.get();
    ++finished;
}

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::system_error& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done " << finished << "\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
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

    std::vector<std::promise<void>> mailboxes(*tasks);
    std::vector<std::thread> threads;
    threads.reserve(*tasks);
    try {
        for (auto& mailbox : mailboxes) threads.emplace_back(task, *tasks, mailbox.get_future());
    } catch (const std::system_error& error) {
        give_up(*tasks, threads.size(), error);
    }
    std::this_thread::sleep_until(begin + std::chrono::seconds(*seconds));
    for (auto& mailbox : mailboxes) mailbox.set_value();
    for (auto& thread : threads) thread.join();

    std::cout << "done " << finished << '\n';
}
