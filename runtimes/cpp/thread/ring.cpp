// One std::thread per place in a ring, each handing on the tokens that come through its channel.
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <latch>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

// Room for one number: of the hops that a token has left, or of the task that holds it in the end.
class Channel {
public:
    void put(unsigned number) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return !number_; });
        number_ = number;
        full_.notify_one();
    }

    // Nothing, when the channel is closed.
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

struct Arguments {
    unsigned tasks, operations, tokens;
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

// Ends the program, and every task with it, because a task cannot start.
[[noreturn]] void give_up(unsigned tasks, std::size_t launched, const std::system_error& error) {
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
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        channels[token * tasks / tokens].put(operations / tokens + (token < operations % tokens));
    }
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < tokens; ++i) sum += *noted.take();
    std::cout << "done " << operations << "\ncheck " << sum << std::endl;

    for (auto& channel : channels) channel.close();
    for (auto& thread : threads) thread.join();
}
