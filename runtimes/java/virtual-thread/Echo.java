import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;

/** One virtual thread per connection; it sends back what comes. */
final class Echo {
    public static void main(String[] args) throws IOException {
        var address = URI.create("tcp://" + args[2]); // <tasks> --listen <host>:<port>
        try (var server = new ServerSocket(address.getPort(), 4096, InetAddress.getByName(address.getHost()))) {
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
            // ends this connection only
        }
    }
}
