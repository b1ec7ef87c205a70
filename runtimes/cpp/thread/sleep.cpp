// One std::thread, an OS thread, per task.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned> started, finished;

void task(unsigned tasks, std::chrono::seconds wait) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    std::this_thread::sleep_for(wait);
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
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1));
    std::chrono::seconds wait(std::stoul(args.at(2)));

    std::vector<std::thread> threads;
    threads.reserve(tasks);
    try {
        for (unsigned i = 0; i < tasks; ++i) threads.emplace_back(task, tasks, wait);
    } catch (const std::system_error& error) {
        give_up(tasks, threads.size(), error);
    }
    for (auto& thread : threads) thread.join();

    std::cout << "done " << finished << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
