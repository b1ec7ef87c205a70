// One Boost.Fiber per operation, made by async and waited for by its future.
#include <boost/fiber/all.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

unsigned task(unsigned number) {
    return number;
}

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, unsigned operations, unsigned done, const std::bad_alloc& error) {
    std::cerr << "cannot start " << tasks << " tasks at once: " << error.what() << '\n';
    std::cout << "done " << done << "\nfailed " << operations - done << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));

    std::cout << "ready" << std::endl;
    std::vector<boost::fibers::future<unsigned>> results;
    std::uint64_t sum = 0;
    for (unsigned done = 0; done < operations;) {
        unsigned round = std::min(tasks, operations - done);
        try {
            for (unsigned i = 0; i < round; ++i) results.push_back(boost::fibers::async(task, done + i));
        } catch (const std::bad_alloc& error) {
            give_up(tasks, operations, done, error);
        }
        for (auto& result : results) sum += result.get();
        results.clear();
        done += round;
    }
    std::cout << "done " << operations << "\ncheck " << sum << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
