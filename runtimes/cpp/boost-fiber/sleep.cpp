// One Boost.Fiber per task: a stack of its own, switched by the library in one thread.
#include <boost/fiber/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

// One thread runs all fibers, so plain integers suffice.
unsigned started, finished;

void task(unsigned tasks, std::chrono::seconds wait) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    boost::this_fiber::sleep_for(wait);
    ++finished;
}

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::bad_alloc& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done " << finished << "\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1));
    std::chrono::seconds wait(std::stoul(args.at(2)));

    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(tasks);
    try {
        for (unsigned i = 0; i < tasks; ++i) fibers.emplace_back(task, tasks, wait);
    } catch (const std::bad_alloc& error) {
        give_up(tasks, fibers.size(), error);
    }
    for (auto& fiber : fibers) fiber.join();

    std::cout << "done " << finished << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
