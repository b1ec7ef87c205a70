// One std::thread per operation, created and joined, with a slot for its result.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

void task(unsigned number, std::uint64_t& result) {
    result = number;
}

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, unsigned operations, unsigned done, const std::system_error& error) {
    std::cerr << "cannot start " << tasks << " tasks at once: " << error.what() << '\n';
    std::cout << "done " << done << "\nfailed " << operations - done << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));

    std::vector<std::uint64_t> results(std::min(tasks, operations));
    std::vector<std::thread> threads;
    threads.reserve(results.size());
    std::cout << "ready" << std::endl;

    std::uint64_t sum = 0;
    for (unsigned done = 0; done < operations;) {
        unsigned round = std::min(tasks, operations - done);
        try {
            for (unsigned i = 0; i < round; ++i) threads.emplace_back(task, done + i, std::ref(results[i]));
        } catch (const std::system_error& error) {
            give_up(tasks, operations, done, error);
        }
        for (auto& thread : threads) thread.join();
        threads.clear();
        sum = std::accumulate(results.begin(), results.begin() + round, sum);
        done += round;
    }

    std::cout << "done " << operations << "\ncheck " << sum << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
