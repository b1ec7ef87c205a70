// A ring of Boost.Fibers, each passing tokens from its channel to the next.
#include <boost/fiber/all.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

// Carries the hops that a token has left, or the task where it ended. Capacity 2 holds one number: it must be a power
// of two, and one place stays free.
using Channel = boost::fibers::buffered_channel<unsigned>;

// One thread runs all fibers, so a plain integer suffices.
unsigned started;

void task(unsigned number, std::deque<Channel>& channels, Channel& noted) {
    auto& own = channels[number];
    auto& next = channels[(number + 1) % channels.size()];
    if (++started == channels.size()) std::cout << "alive " << channels.size() << std::endl;
    for (unsigned hops : own) {
        if (hops > 0) {
            next.push(hops - 1);
        } else {
            noted.push(number);
        }
    }
}

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::bad_alloc& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done 0\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));
    unsigned tokens = args.size() > 4 ? std::stoul(args[4]) : 1;  // after --tokens

    std::deque<Channel> channels;
    Channel noted(2);
    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(tasks);
    try {
        for (unsigned i = 0; i < tasks; ++i) channels.emplace_back(2);
        for (unsigned i = 0; i < tasks; ++i) fibers.emplace_back(task, i, std::ref(channels), std::ref(noted));
    } catch (const std::bad_alloc& error) {
        give_up(tasks, fibers.size(), error);
    }
    while (started < tasks) boost::this_fiber::yield();
    std::cout << "ready" << std::endl;

    for (std::uint64_t token = 0; token < tokens; ++token) {
        // The first tokens take the remainder.
        channels[token * tasks / tokens].push(operations / tokens + (token < operations % tokens));
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += noted.value_pop();
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : channels) channel.close();
    for (auto& fiber : fibers) fiber.join();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
