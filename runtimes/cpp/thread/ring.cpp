// A ring of std::threads, each passing tokens from its channel to the next.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

// A bounded buffer for one number: the hops that a token has left, or the task where it ended.
class Channel {
public:
    void put(unsigned number) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return !number_; });
        number_ = number;
        full_.notify_one();
    }

    // Returns nothing if the channel is closed.
    std::optional<unsigned> take() {
        std::unique_lock lock(mutex_);
        full_.wait(lock, [this] { return number_ || closed_; });
        auto number = std::exchange(number_, std::nullopt);
        room_.notify_one();
        return number;
    }

    void close() {
        std::lock_guard lock(mutex_);
        closed_ = true;
        full_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable room_, full_;
    std::optional<unsigned> number_;
    bool closed_ = false;
};

std::atomic<unsigned> started;
std::latch all_alive(1);

void task(unsigned number, std::vector<Channel>& channels, Channel& noted) {
    auto& own = channels[number];
    auto& next = channels[(number + 1) % channels.size()];
    if (++started == channels.size()) {
        std::cout << "alive " << channels.size() << std::endl;
        all_alive.count_down();
    }
    while (auto hops = own.take()) {
        if (*hops > 0) {
            next.put(*hops - 1);
        } else {
            noted.put(number);
        }
    }
}

// Ends the program because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::system_error& error) {
    std::cerr << "cannot start task " << launched + 1 << " of " << tasks << ": " << error.what() << '\n';
    std::cout << "done 0\nfailed " << tasks - launched << std::endl;
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    unsigned tasks = std::stoul(args.at(1)), operations = std::stoul(args.at(2));
    unsigned tokens = args.size() > 4 ? std::stoul(args[4]) : 1;  // after --tokens

    std::vector<Channel> channels(tasks);
    Channel noted;
    std::vector<std::thread> threads;
    threads.reserve(tasks);
    try {
        for (unsigned i = 0; i < tasks; ++i) threads.emplace_back(task, i, std::ref(channels), std::ref(noted));
    } catch (const std::system_error& error) {
        give_up(tasks, threads.size(), error);
    }
    all_alive.wait();
    std::cout << "ready" << std::endl;

    for (std::uint64_t token = 0; token < tokens; ++token) {
        // The first tokens take the remainder.
        channels[token * tasks / tokens].put(operations / tokens + (token < operations % tokens));
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += *noted.take();
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : channels) channel.close();
    for (auto& thread : threads) thread.join();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
