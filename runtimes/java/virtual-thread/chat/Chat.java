import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.api.StatusCode;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;

/** A member of the chat. Jetty calls it in virtual threads; a virtual thread of its own sends what is in its queue. */
public final class Chat implements Session.Listener.AutoDemanding {
    private static final int MAX_MESSAGE = 64 << 10; // bytes
    private static final int MAX_QUEUED = 256;       // messages

    private static final Map<String, Set<Chat>> rooms = new ConcurrentHashMap<>();

    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
    private Session session;
    private Thread writer;
    private String room;

    public static void main(String[] args) throws Exception {
        var address = URI.create("tcp://" + args[2]); // <tasks> --listen <host>:<port>
        var server = new Server(new VirtualThreadPool());
        var connector = new ServerConnector(server);
        connector.setHost(address.getHost());
        connector.setPort(address.getPort());
        connector.setAcceptQueueSize(4096);
        server.addConnector(connector);
        server.setHandler(WebSocketUpgradeHandler.from(server, container -> {
            container.setMaxTextMessageSize(MAX_MESSAGE);
            container.setIdleTimeout(Duration.ZERO);
            container.addMapping("/*", (request, response, callback) -> new Chat());
        }));
        server.start();
        System.out.println("listening " + connector.getLocalPort());
    }

    @Override
    public void onWebSocketOpen(Session session) {
        this.session = session;
        writer = Thread.startVirtualThread(this::write);
    }

    @Override
    public void onWebSocketText(String message) {
        if (message.startsWith("join ")) {
            leave();
            join(message.substring("join ".length()));
        } else if (message.startsWith("say ") && room != null) {
            String text = message.substring("say ".length());
            rooms.get(room).forEach(member -> member.enqueue(text));
        } else {
            session.close(StatusCode.POLICY_VIOLATION, null, Callback.NOOP);
        }
    }

    @Override
    public void onWebSocketBinary(ByteBuffer message, Callback callback) {
        callback.succeed();
        session.close(StatusCode.BAD_DATA, null, Callback.NOOP);
    }

    @Override
    public void onWebSocketClose(int status, String reason, Callback callback) {
        leave();
        writer.interrupt();
        callback.succeed();
    }

    private void join(String name) {
        room = name;
        rooms.compute(name, (key, members) -> {
            Set<Chat> joined = members == null ? ConcurrentHashMap.newKeySet() : members;
            joined.add(this);
            return joined;
        });
        enqueue("joined " + name);
    }

    private void leave() {
        if (room != null) {
            rooms.computeIfPresent(room, (key, members) -> {
                members.remove(this);
                return members.isEmpty() ? null : members;
            });
        }
    }

    /** Cuts the member off if its queue is full. */
    private void enqueue(String message) {
        if (!queue.offer(message)) {
            session.disconnect();
        }
    }

    private void write() {
        try {
            while (true) {
                var sent = new Callback.Completable();
                session.sendText(queue.take(), sent);
                sent.join();
            }
        } catch (InterruptedException | CompletionException e) {
            // the connection is closed
        }
    }
}
