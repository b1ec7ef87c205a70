// One C++20 coroutine per connection of a chat over WebSocket, on Boost.Asio and Boost.Beast. It reads; a second one
// writes while messages are queued.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::system_error;

constexpr std::size_t queue_limit = 256;  // messages per member
constexpr std::size_t max_message = 64 << 10;

struct Member {
    explicit Member(tcp::socket connected) : socket(std::move(connected)) {}

    websocket::stream<tcp::socket> socket;
    std::deque<std::shared_ptr<const std::string>> queue;  // the first is being written
    // Never expires; canceled to notify, as Asio has no condition variable.
    asio::steady_timer drained{socket.get_executor(), asio::steady_timer::time_point::max()};
    std::optional<std::string> room;
};

using MemberPtr = std::shared_ptr<Member>;

// One thread runs the context, so no locks are needed.
std::unordered_map<std::string, std::unordered_set<MemberPtr>> rooms;

asio::awaitable<void> write(MemberPtr member) {
    try {
        while (!member->queue.empty()) {
            co_await member->socket.async_write(asio::buffer(*member->queue.front()), asio::use_awaitable);
            member->queue.pop_front();
        }
    } catch (const system_error&) {
        member->queue.clear();  // the read fails, too
    }
    member->drained.cancel();
}

// Never waits: a member that lets its queue fill up is disconnected.
void send(const MemberPtr& member, std::shared_ptr<const std::string> text) {
    if (member->queue.size() == queue_limit) {
        beast::error_code ignored;
        beast::get_lowest_layer(member->socket).close(ignored);
        return;
    }
    member->queue.push_back(std::move(text));
    if (member->queue.size() == 1) co_spawn(member->socket.get_executor(), write(member), asio::detached);
}

void leave(const MemberPtr& member) {
    if (!member->room) return;
    auto room = rooms.find(*member->room);
    room->second.erase(member);
    if (room->second.empty()) rooms.erase(room);
    member->room.reset();
}

void join(const MemberPtr& member, std::string_view name) {
    leave(member);
    rooms[member->room.emplace(name)].insert(member);
    send(member, std::make_shared<std::string>("joined " + *member->room));
}

void say(const MemberPtr& speaker, std::string_view said) {
    auto text = std::make_shared<const std::string>(said);
    for (const auto& member : rooms[*speaker->room]) send(member, text);
}

// Returns the code to close with. Throws if the client closes the connection.
asio::awaitable<websocket::close_code> talk(MemberPtr member) {
    auto& socket = member->socket;
    beast::get_lowest_layer(socket).set_option(tcp::no_delay(true));
    socket.read_message_max(max_message);
    socket.auto_fragment(false);
    co_await socket.async_accept(asio::use_awaitable);

    beast::flat_buffer buffer;
    for (;;) {
        // Writes come before reads, so a member cannot speak faster than it receives.
        beast::error_code canceled;
        while (!member->queue.empty()) {
            co_await member->drained.async_wait(asio::redirect_error(asio::use_awaitable, canceled));
        }
        co_await socket.async_read(buffer, asio::use_awaitable);
        if (!socket.got_text()) co_return websocket::close_code::unknown_data;
        std::string_view text(static_cast<const char*>(buffer.data().data()), buffer.size());
        if (text.starts_with("join ")) {
            join(member, text.substr(5));
        } else if (text.starts_with("say ") && member->room) {
            say(member, text.substr(4));
        } else {
            co_return websocket::close_code::policy_error;
        }
        buffer.clear();
    }
}

asio::awaitable<void> task(tcp::socket connected) {
    auto member = std::make_shared<Member>(std::move(connected));
    try {
        auto code = co_await talk(member);
        leave(member);
        co_await member->socket.async_close(code, asio::use_awaitable);
    } catch (const system_error&) {
        // Beast has sent a close frame where the protocol asks for one.
        leave(member);
    }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        co_spawn(acceptor.get_executor(), task(std::move(socket)), asio::detached);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> args(argv, argv + argc);
    [[maybe_unused]] auto tasks = std::stoul(args.at(1));
    auto colon = args.at(3).rfind(':');
    tcp::endpoint endpoint(asio::ip::make_address(args[3].substr(0, colon)), std::stoul(args[3].substr(colon + 1)));

    asio::io_context context;
    tcp::acceptor acceptor(context, endpoint);
    std::cout << "listening " << acceptor.local_endpoint().port() << std::endl;
    co_spawn(context, listen(acceptor), [](std::exception_ptr error) { std::rethrow_exception(error); });
    context.run();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
