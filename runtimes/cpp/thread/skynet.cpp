// One std::thread per node of a tree, each joining its ten children.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

unsigned tasks, operations, done;

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(const std::system_error& error) {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static std::mutex report;
    report.lock();
    std::cerr << "cannot start a tree of " << tasks << " leaves: " << error.what() << '\n';
    std::cout << "done " << done << "\nfailed " << operations - done << std::endl;
    std::_Exit(1);
}

void node(unsigned first, unsigned leaves, std::uint64_t& sum);

std::thread start(unsigned first, unsigned leaves, std::uint64_t& sum) try {
    return std::thread(node, first, leaves, std::ref(sum));
} catch (const std::system_error& error) {
    give_up(error);
}

// Sums the numbers of its leaves, which begin with `first`.
void node(unsigned first, unsigned leaves, std::uint64_t& sum) {
    if (leaves == 1) {
        sum = first;
        return;
    }
    std::array<std::thread, 10> children;
    std::array<std::uint64_t, 10> sums;
    unsigned share = leaves / 10;
    for (unsigned i = 0; i < 10; ++i) children[i] = start(first + i * share, share, sums[i]);
    for (auto& child : children) child.join();
    sum = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
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
    for (; done < operations; done += tasks) {
        std::uint64_t tree = 0;
        start(0, tasks, tree).join();
        sum += tree;
    }

    std::cout << "done " << operations << "\ncheck " << sum << '\n';
}
