import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;

/** One virtual thread per connection, which sends back what comes. */
final class Echo {
    public static void main(String[] args) throws IOException {
        InetSocketAddress address = args.length == 3 && args[1].equals("--listen") ? address(args[2]) : null;
        if (address == null || parse(args[0]) < 1) {
            System.err.println("usage: Echo <tasks> --listen <host>:<port>: a whole number, at least one task");
            System.exit(2);
        }

        try (var server = new ServerSocket()) {
            server.bind(address, 4096);
            System.out.println("listening " + server.getLocalPort());
            while (true) {
                Socket socket = server.accept();
                Thread.startVirtualThread(() -> echo(socket));
            }
        }
    }

    private static void echo(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            var buffer = new byte[4096];
            for (int length; (length = socket.getInputStream().read(buffer)) > 0; ) {
                socket.getOutputStream().write(buffer, 0, length);
            }
        } catch (IOException e) {
            // the end of this connection alone
        }
    }

    private static InetSocketAddress address(String hostAndPort) {
        try {
            var uri = URI.create("tcp://" + hostAndPort);
            return new InetSocketAddress(uri.getHost(), uri.getPort());
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
