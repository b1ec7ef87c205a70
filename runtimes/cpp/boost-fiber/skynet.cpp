// A tree of Boost.Fibers, each waiting for the futures of its ten children.
#include <boost/fiber/all.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

unsigned tasks, operations, done;

// Ends the program because a task cannot start.
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

// Sums first, ..., first + leaves - 1.
std::uint64_t node(unsigned first, unsigned leaves) {
    if (leaves == 1) return first;
    std::array<boost::fibers::future<std::uint64_t>, 10> children;
    unsigned share = leaves / 10;
    for (unsigned i = 0; i < 10; ++i) children[i] = start(first + i * share, share);
    std::uint64_t sum = 0;
    for (auto& child : children) sum += child.get();
    return sum;
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    tasks = std::stoul(args.at(1));
    operations = std::stoul(args.at(2));

    std::cout << "ready" << std::endl;
    std::uint64_t sum = 0;
    for (; done < operations; done += tasks) sum += start(0, tasks).get();
    std::cout << "done " << operations << "\ncheck " << sum << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
