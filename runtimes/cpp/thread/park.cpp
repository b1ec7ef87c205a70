// One std::thread, an OS thread, per task, each waiting for a promise.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <string>
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

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::system_error& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done " << finished << "\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1));
    std::chrono::seconds wait(std::stoul(args.at(2)));

    std::vector<std::promise<void>> mailboxes(tasks);
    std::vector<std::thread> threads;
    threads.reserve(tasks);
    try {
        for (auto& mailbox : mailboxes) threads.emplace_back(task, tasks, mailbox.get_future());
    } catch (const std::system_error& error) {
        give_up(tasks, threads.size(), error);
    }
    std::this_thread::sleep_until(begin + wait);
    for (auto& mailbox : mailboxes) mailbox.set_value();
    for (auto& thread : threads) thread.join();

    std::cout << "done " << finished << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
