import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.java_websocket.WebSocket;
import org.java_websocket.WebSocketAdapter;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.drafts.Draft_6455;
import org.java_websocket.framing.CloseFrame;
import org.java_websocket.handshake.Handshakedata;

/** A connection: one platform thread, which is an OS thread, reads from it, and a second one writes what is queued for it. */
final class Chat extends WebSocketAdapter {
    private static final int MAX_MESSAGE = 64 << 10;    // bytes
    private static final int MAX_QUEUED = 256;          // frames
    private static final int CLOSING_TIME = 1_000;      // milliseconds for a client to close its end too
    private static final ByteBuffer END = ByteBuffer.allocate(0); // ends a queue

    private static final Map<String, Set<Chat>> rooms = new ConcurrentHashMap<>();

    private final Socket socket;
    private final WebSocketImpl connection = new WebSocketImpl(this, List.of(new Draft_6455(List.of(), MAX_MESSAGE)));
    private String room;

    public static void main(String[] args) throws IOException {
        var address = URI.create("tcp://" + args[2]); // <tasks> --listen <host>:<port>
        try (var server = new ServerSocket(address.getPort(), 4096, InetAddress.getByName(address.getHost()))) {
            System.out.println("listening " + server.getLocalPort());
            while (true) {
                var member = new Chat(server.accept());
                Thread.ofPlatform().daemon().start(member::read); // daemon: the program ends when main does
                Thread.ofPlatform().daemon().start(member::write);
            }
        }
    }

    private Chat(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
    }

    private void read() {
        try (socket) {
            var buffer = new byte[4096];
            for (int length; (length = socket.getInputStream().read(buffer)) > 0; ) {
                connection.decode(ByteBuffer.wrap(buffer, 0, length));
            }
        } catch (IOException e) {
            // ends this connection only
        } finally {
            leave();
            connection.outQueue.add(END);
        }
    }

    private void write() {
        try {
            var out = new BufferedOutputStream(socket.getOutputStream());
            for (ByteBuffer frame; (frame = connection.outQueue.take()) != END; ) {
                out.write(frame.array(), 0, frame.limit());
                if (connection.outQueue.isEmpty()) {
                    out.flush();
                }
            }
            out.flush();
            // Not close: with unread bytes that would reset the connection, and the client might miss the close frame.
            socket.shutdownOutput();
            socket.setSoTimeout(CLOSING_TIME);
        } catch (IOException | InterruptedException e) {
            // ends this connection only
        }
    }

    @Override
    public void onWebsocketMessage(WebSocket connection, String message) {
        if (message.startsWith("join ")) {
            leave();
            join(message.substring("join ".length()));
        } else if (message.startsWith("say ") && room != null) {
            say(message.substring("say ".length()));
        } else {
            connection.close(CloseFrame.POLICY_VALIDATION);
        }
    }

    @Override
    public void onWebsocketMessage(WebSocket connection, ByteBuffer message) {
        connection.close(CloseFrame.REFUSE);
    }

    private void join(String name) {
        room = name;
        rooms.compute(name, (key, members) -> {
            Set<Chat> joined = members == null ? ConcurrentHashMap.newKeySet() : members;
            joined.add(this);
            return joined;
        });
        connection.send("joined " + name);
    }

    private void leave() {
        if (room != null) {
            rooms.computeIfPresent(room, (key, members) -> {
                members.remove(this);
                return members.isEmpty() ? null : members;
            });
        }
    }

    private void say(String text) {
        var draft = connection.getDraft();
        var frame = draft.createBinaryFrame(draft.createFrames(text, false).getFirst());
        for (Chat member : rooms.get(room)) {
            member.connection.outQueue.add(frame);
            member.onWriteDemand(member.connection);
        }
    }

    /** Called when something was queued: cuts the member off if that is too much. */
    @Override
    public void onWriteDemand(WebSocket connection) {
        if (this.connection.outQueue.size() > MAX_QUEUED) {
            try {
                socket.close(); // ends both threads
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void onWebsocketClosing(WebSocket connection, int code, String reason, boolean remote) {
        this.connection.outQueue.add(END); // after the close frame
    }

    @Override
    public void onWebsocketOpen(WebSocket connection, Handshakedata handshake) { }

    @Override
    public void onWebsocketCloseInitiated(WebSocket connection, int code, String reason) { }

    @Override
    public void onWebsocketClose(WebSocket connection, int code, String reason, boolean remote) { }

    @Override
    public void onWebsocketError(WebSocket connection, Exception e) { }

    @Override
    public InetSocketAddress getLocalSocketAddress(WebSocket connection) {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress(WebSocket connection) {
        return (InetSocketAddress) socket.getRemoteSocketAddress();
    }
}
