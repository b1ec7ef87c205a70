// One C++20 coroutine per connection of a chat over WebSocket, on Boost.Asio and Boost.Beast. A second one writes to it
// while there is something to write, since it may be waiting for the client to say something.
#include <utility>  // Boost 1.74 uses std::exchange without it

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include <charconv>
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

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::system_error;

constexpr std::size_t queue_limit = 256;  // messages that wait for one member
constexpr std::size_t largest_message = 64 << 10;

struct Member {
    explicit Member(tcp::socket connected) : socket(std::move(connected)) {}

    websocket::stream<tcp::socket> socket;
    std::deque<std::shared_ptr<const std::string>> queue;  // the first is being written
    // Never due, but cancelled: what Asio has in the place of a condition variable.
    asio::steady_timer drained{socket.get_executor(), asio::steady_timer::time_point::max()};
    std::optional<std::string> room;
};

using MemberPtr = std::shared_ptr<Member>;

// One thread runs the context, so that nothing has to be locked.
std::unordered_map<std::string, std::unordered_set<MemberPtr>> rooms;

asio::awaitable<void> write(MemberPtr member) {
    try {
        while (!member->queue.empty()) {
            co_await member->socket.async_write(asio::buffer(*member->queue.front()), asio::use_awaitable);
            member->queue.pop_front();
        }
    } catch (const system_error&) {
        member->queue.clear();  // reading from it is an error as well
    }
    member->drained.cancel();
}

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

// Returns why the connection is to be closed; if the client closes it, that is an exception.
asio::awaitable<websocket::close_code> talk(MemberPtr member) {
    auto& socket = member->socket;
    beast::get_lowest_layer(socket).set_option(tcp::no_delay(true));
    socket.read_message_max(largest_message);
    socket.auto_fragment(false);
    co_await socket.async_accept(asio::use_awaitable);

    beast::flat_buffer buffer;
    for (;;) {
        // Who is owed messages is not heard: nobody fills queues faster than it takes its own messages.
        beast::error_code cancelled;
        while (!member->queue.empty()) {
            co_await member->drained.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
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
        // Beast has sent the close frame that belongs to it.
        leave(member);
    }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        co_spawn(acceptor.get_executor(), task(std::move(socket)), asio::detached);
    }
}

template <typename Number>
std::optional<Number> parse(std::string_view text) {
    Number number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<tcp::endpoint> arguments(int argc, char** argv) {
    if (argc != 4 || std::string_view(argv[2]) != "--listen") return std::nullopt;
    auto tasks = parse<unsigned>(argv[1]);  // nothing has to be sized beforehand
    std::string_view listen = argv[3];
    auto colon = listen.rfind(':');
    if (!tasks || *tasks == 0 || colon == listen.npos) return std::nullopt;
    beast::error_code error;
    auto address = asio::ip::make_address(listen.substr(0, colon), error);
    auto port = parse<unsigned short>(listen.substr(colon + 1));
    if (error || !port) return std::nullopt;
    return tcp::endpoint(address, *port);
}

}  // namespace

int main(int argc, char** argv) {
    auto endpoint = arguments(argc, argv);
    if (!endpoint) {
        std::cerr << "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task\n";
        return 2;
    }
    try {
        asio::io_context context;
        tcp::acceptor acceptor(context, *endpoint);
        std::cout << "listening " << acceptor.local_endpoint().port() << std::endl;
        co_spawn(context, listen(acceptor), [](std::exception_ptr error) { std::rethrow_exception(error); });
        context.run();
    } catch (const system_error& error) {
        std::cerr << "chat: " << error.what() << '\n';
        return 1;
    }
}
