// One Boost.Fiber per place in a ring, each handing on the tokens that come through its channel.
#include <boost/fiber/all.hpp>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

namespace {

// Of the hops that a token has left, or of the task that holds it in the end. Capacity is a power of two, of which one
// place stays free: 2 is room for one.
using Channel = boost::fibers::buffered_channel<unsigned>;

struct Arguments {
    unsigned tasks, operations, tokens;
};

// One thread runs all fibers, so a plain number does.
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

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::bad_alloc& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done 0\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
}

std::optional<unsigned> parse(std::string_view text) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Arguments> arguments(int argc, char** argv) {
    if (argc != 3 && !(argc == 5 && std::string_view(argv[3]) == "--tokens")) return std::nullopt;
    auto tasks = parse(argv[1]), operations = parse(argv[2]), tokens = parse(argc == 5 ? argv[4] : "1");
    if (!tasks || !operations || !tokens) return std::nullopt;
    if (*operations == 0 || *tokens == 0 || *tokens > *tasks / 2) return std::nullopt;
    return Arguments{*tasks, *operations, *tokens};
}

}  // namespace

int main(int argc, char** argv) {
    auto given = arguments(argc, argv);
    if (!given) {
        std::cerr << "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, "
                     "at most half as many tokens as tasks\n";
        return 2;
    }
    auto [tasks, operations, tokens] = *given;

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
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        channels[token * tasks / tokens].push(operations / tokens + (token < operations % tokens));
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += noted.value_pop();
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : channels) channel.close();
    for (auto& fiber : fibers) fiber.join();
}
