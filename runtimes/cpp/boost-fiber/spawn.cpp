// One Boost.Fiber per operation, made by async and waited for by its future.
#include <boost/fiber/all.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

namespace {

unsigned task(unsigned number) {
    return number;
}

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, unsigned operations, unsigned done, const std::bad_alloc& error) {
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

    std::cout << "ready" << std::endl;
    std::vector<boost::fibers::future<unsigned>> results;
    std::uint64_t sum = 0;
    for (unsigned done = 0; done < *operations;) {
        unsigned round = std::min(*tasks, *operations - done);
        try {
            for (unsigned i = 0; i < round; ++i) results.push_back(boost::fibers::async(task, done + i));
        } catch (const std::bad_alloc& error) {
            give_up(*tasks, *operations, done, error);
        }
        for (auto& result : results) sum += result.get();
        results.clear();
        done += round;
    }
    std::cout << "done " << *operations << "\ncheck " << sum << '\n';
}
