// One Boost.Fiber per node of a tree, each waiting for the futures of its ten children.
#include <boost/fiber/all.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>

namespace {

unsigned tasks, operations, done;

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(const std::bad_alloc& error) {
    std::cerr << "cannot start a tree of " << tasks << " leaves: " << error.what() << '\n';
    std::cout << "done " << done << "\nfailed " << operations - done << std::endl;
    std::_Exit(1);
}

std::uint64_t node(unsigned first, unsigned leaves);

boost::fibers::future<std::uint64_t> start(unsigned first, unsigned leaves) try {
    return boost::fibers::async(node, first, leaves);
} catch (const std::bad_alloc& error) {
    give_up(error);
}

// Sums the numbers of its leaves, which begin with `first`.
std::uint64_t node(unsigned first, unsigned leaves) {
    if (leaves == 1) return first;
    std::array<boost::fibers::future<std::uint64_t>, 10> children;
    unsigned share = leaves / 10;
    for (unsigned i = 0; i < 10; ++i) children[i] = start(first + i * share, share);
    std::uint64_t sum = 0;
    for (auto& child : children) sum += child.get();
    return sum;
}

std::optional<unsigned> parse(std::string_view text) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool is_power_of_ten(unsigned number) {
    while (number != 0 && number % 10 == 0) number /= 10;
    return number == 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3) {
        tasks = parse(argv[1]).value_or(0);
        operations = parse(argv[2]).value_or(0);
    }
    if (!is_power_of_ten(tasks) || operations == 0 || operations % tasks != 0) {
        std::cerr << "usage: skynet <tasks> <operations>: "
                     "whole numbers, tasks a power of ten, operations a multiple of it\n";
        return 2;
    }

    std::cout << "ready" << std::endl;
    std::uint64_t sum = 0;
    for (; done < operations; done += tasks) sum += start(0, tasks).get();
    std::cout << "done " << operations << "\ncheck " << sum << '\n';
}
