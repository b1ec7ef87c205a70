import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.websocket.WsConfig;
import io.helidon.webserver.websocket.WsRouting;
import io.helidon.websocket.WsCloseCodes;
import io.helidon.websocket.WsListener;
import io.helidon.websocket.WsSession;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.LogManager;

/** A member. One virtual thread per connection reads; a second one writes, so that nobody waits for a member that does not read. */
final class Chat implements WsListener {
    private static final int LARGEST = 65_536; // bytes of a message
    private static final int QUEUED = 256;     // messages that a member may be behind

    private static final Map<String, Set<Chat>> rooms = new ConcurrentHashMap<>();

    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>(QUEUED);
    private final Lock sending = new ReentrantLock(); // a session is not safe for use by two threads
    private Thread reader;
    private Thread writer;
    private String room;
    private String begun = ""; // the fragments of a message that is not complete

    public static void main(String[] args) {
        URI address = args.length == 3 && args[1].equals("--listen") ? address(args[2]) : null;
        if (address == null || parse(args[0]) < 1) {
            System.err.println("usage: Chat <tasks> --listen <host>:<port>: a whole number, at least one task");
            System.exit(2);
        }
        LogManager.getLogManager().reset(); // Helidon would log how single connections end

        WebServer server = WebServer.builder()
            .host(address.getHost())
            .port(address.getPort())
            .backlog(4096)
            .connectionOptions(options -> options.tcpNoDelay(true))
            .idleConnectionTimeout(Duration.ofDays(1))
            .shutdownHook(false)
            .addProtocol(WsConfig.builder().maxFrameLength(LARGEST).build())
            .addRouting(WsRouting.builder().endpoint("/*", Chat::new))
            .build()
            .start();
        System.out.println("listening " + server.port());
    }

    @Override
    public void onOpen(WsSession session) {
        reader = Thread.currentThread();
        writer = Thread.startVirtualThread(() -> write(session));
        // A listener is not told when a connection breaks off. Its thread ends, however it ends.
        Thread.startVirtualThread(() -> {
            try {
                reader.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e); // nobody interrupts
            }
            leave();
            writer.interrupt();
        });
    }

    @Override
    public void onMessage(WsSession session, String part, boolean last) {
        String message = begun + part;
        begun = last ? "" : message;
        if (message.length() > LARGEST) {
            close(session, WsCloseCodes.TOO_BIG);
        } else if (!last) {
            return;
        } else if (message.startsWith("join ")) {
            leave();
            join(message.substring("join ".length()));
            enqueue("joined " + room);
        } else if (message.startsWith("say ") && room != null) {
            say(message.substring("say ".length()));
        } else {
            close(session, WsCloseCodes.VIOLATED_POLICY);
        }
    }

    @Override
    public void onMessage(WsSession session, BufferData data, boolean last) {
        close(session, WsCloseCodes.CANNOT_ACCEPT);
    }

    @Override
    public void onPing(WsSession session, BufferData payload) {
        send(() -> session.pong(payload));
    }

    private void join(String name) {
        room = name;
        rooms.compute(name, (key, members) -> {
            Set<Chat> joined = members == null ? ConcurrentHashMap.newKeySet() : members;
            joined.add(this);
            return joined;
        });
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
        Set<Chat> members = rooms.getOrDefault(room, Set.of());
        for (Chat member : members) {
            if (member != this && !member.queue.offer(text)) {
                members.remove(member); // it gets nothing behind a gap
                member.cutOff();
            }
        }
        enqueue(text);
        // The messages of a burst are here at once: others shall have their turn to empty their queues.
        Thread.yield();
    }

    /** Waits for room in the queue: who sends may wait for its own socket. */
    private void enqueue(String text) {
        try {
            queue.put(text);
        } catch (InterruptedException e) {
            throw new CloseConnectionException("cut off", e);
        }
    }

    private void write(WsSession session) {
        try {
            while (true) {
                String text = queue.take();
                send(() -> session.send(text, true));
            }
        } catch (InterruptedException | RuntimeException e) {
            reader.interrupt();
        }
    }

    private void send(Runnable frame) {
        sending.lock();
        try {
            frame.run();
        } finally {
            sending.unlock();
        }
    }

    private void close(WsSession session, int code) {
        send(() -> session.close(code, ""));
        throw new CloseConnectionException("closed with " + code);
    }

    /** A virtual thread that is interrupted while it reads or writes a socket closes it. */
    private void cutOff() {
        reader.interrupt();
        writer.interrupt();
    }

    private static URI address(String hostAndPort) {
        try {
            var address = URI.create("tcp://" + hostAndPort);
            return address.getPort() < 0 ? null : address;
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
