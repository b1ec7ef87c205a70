// One Boost.Fiber per task, each waiting for a promise.
#include <boost/fiber/all.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

namespace {

// One thread runs all fibers, so plain numbers do.
unsigned started, finished;

void task(unsigned tasks, boost::fibers::future<void> mailbox) {
    if (++started == tasks) std::cout << "alive " << tasks - finished << std::endl;
    mailbox.get();
    ++finished;
}

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::bad_alloc& error) {
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

    std::vector<boost::fibers::promise<void>> mailboxes(*tasks);
    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(*tasks);
    try {
        for (auto& mailbox : mailboxes) fibers.emplace_back(task, *tasks, mailbox.get_future());
    } catch (const std::bad_alloc& error) {
        give_up(*tasks, fibers.size(), error);
    }
    boost::this_fiber::sleep_until(begin + std::chrono::seconds(*seconds));
    for (auto& mailbox : mailboxes) mailbox.set_value();
    for (auto& fiber : fibers) fiber.join();

    std::cout << "done " << finished << '\n';
}
