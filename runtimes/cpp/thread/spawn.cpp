// One std::thread per operation, made and joined, with a slot for its result.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

void task(unsigned number, std::uint64_t& result) {
    result = number;
}

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, unsigned operations, unsigned done, const std::system_error& error) {
    std::cerr << "cannot start " << tasks << " tasks at once: " << error.what() << '\n';
    std::cout << "done " << done << "\nfailed " << operations - done << std::endl;
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
    auto tasks = argc == 3 ? parse(argv[1]) : std::nullopt;
    auto operations = argc == 3 ? parse(argv[2]) : std::nullopt;
    if (!tasks || !operations || *tasks == 0 || *operations == 0) {
        std::cerr << "usage: spawn <tasks> <operations>: whole numbers, at least one of each\n";
        return 2;
    }

    std::vector<std::uint64_t> results(std::min(*tasks, *operations));
    std::vector<std::thread> threads;
    threads.reserve(results.size());
    std::cout << "ready" << std::endl;

    std::uint64_t sum = 0;
    for (unsigned done = 0; done < *operations;) {
        unsigned round = std::min(*tasks, *operations - done);
        try {
            for (unsigned i = 0; i < round; ++i) threads.emplace_back(task, done + i, std::ref(results[i]));
        } catch (const std::system_error& error) {
            give_up(*tasks, *operations, done, error);
        }
        for (auto& thread : threads) thread.join();
        threads.clear();
        sum = std::accumulate(results.begin(), results.begin() + round, sum);
        done += round;
    }

    std::cout << "done " << *operations << "\ncheck " << sum << '\n';
}
