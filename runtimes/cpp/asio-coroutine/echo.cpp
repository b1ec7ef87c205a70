// One C++20 coroutine per connection, sending back what comes, on Asio.
#include <asio.hpp>

#include <charconv>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

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
        // The end of the file is one, too.
    }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), task(std::move(socket)), asio::detached);
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
    asio::error_code error;
    auto address = asio::ip::make_address(listen.substr(0, colon), error);
    auto port = parse<unsigned short>(listen.substr(colon + 1));
    if (error || !port) return std::nullopt;
    return tcp::endpoint(address, *port);
}

}  // namespace

int main(int argc, char** argv) {
    auto endpoint = arguments(argc, argv);
    if (!endpoint) {
        std::cerr << "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task\n";
        return 2;
    }
    try {
        asio::io_context context;
        tcp::acceptor acceptor(context, *endpoint);
        std::cout << "listening " << acceptor.local_endpoint().port() << std::endl;
        asio::co_spawn(context, listen(acceptor), [](std::exception_ptr error) { std::rethrow_exception(error); });
        context.run();
    } catch (const std::system_error& error) {
        std::cerr << "echo: " << error.what() << '\n';
        return 1;
    }
}
