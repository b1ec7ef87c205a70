// One C++20 coroutine per connection, echoing what it reads, on Asio.
#include <asio.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using asio::ip::tcp;

asio::awaitable<void> task(tcp::socket socket) {
    try {
        socket.set_option(tcp::no_delay(true));
        char buffer[4096];
        for (;;) {
            auto length = co_await socket.async_read_some(asio::buffer(buffer), asio::use_awaitable);
            co_await asio::async_write(socket, asio::buffer(buffer, length), asio::use_awaitable);
        }
    } catch (const std::system_error&) {
        // The client has closed the connection, or is gone.
    }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), task(std::move(socket)), asio::detached);
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
    asio::co_spawn(context, listen(acceptor), [](std::exception_ptr error) { std::rethrow_exception(error); });
    context.run();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
