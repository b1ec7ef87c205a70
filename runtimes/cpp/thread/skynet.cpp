// A tree of std::threads, each joining its ten children.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

unsigned tasks, operations, done;

// Ends the program because a task cannot start.
[[noreturn]] void give_up(const std::system_error& error) {
    // Several threads can fail at once: the first reports.
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

// Sums first, ..., first + leaves - 1.
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

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    tasks = std::stoul(args.at(1));
    operations = std::stoul(args.at(2));
    std::cout << "ready" << std::endl;

    std::uint64_t sum = 0;
    for (; done < operations; done += tasks) {
        std::uint64_t tree = 0;
        start(0, tasks, tree).join();
        sum += tree;
    }

    std::cout << "done " << operations << "\ncheck " << sum << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
