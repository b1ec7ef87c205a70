import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** A connection: one platform thread reads from it, and whoever speaks in its room writes to it. */
final class Chat {
    private static final int LONGEST_HEAD = 8_192; // characters of the request for a WebSocket
    private static final int LARGEST = 65_536;     // bytes of a message
    private static final int PATIENCE = 1_000;     // milliseconds, for a member that does not read

    private static final int CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;
    private static final int NORMAL = 1000, PROTOCOL_ERROR = 1002, UNSUPPORTED = 1003, INVALID = 1007, POLICY = 1008, TOO_BIG = 1009;

    private static final Map<String, Set<Chat>> rooms = new ConcurrentHashMap<>();

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private String room;
    private volatile byte[] writing; // the frame that is being written
    private byte[] watched;          // the one that was when the watch last looked

    public static void main(String[] args) throws IOException {
        InetSocketAddress address = args.length == 3 && args[1].equals("--listen") ? address(args[2]) : null;
        if (address == null || parse(args[0]) < 1) {
            System.err.println("usage: Chat <tasks> --listen <host>:<port>: a whole number, at least one task");
            System.exit(2);
        }

        try (var server = new ServerSocket()) {
            server.bind(address, 4096);
            System.out.println("listening " + server.getLocalPort());
            Thread.ofPlatform().daemon().start(Chat::watch);
            while (true) {
                Socket socket = server.accept();
                Thread.ofPlatform().daemon().start(() -> serve(socket)); // a daemon, so that the end of main ends all
            }
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            new Chat(socket).talk();
        } catch (IOException e) {
            // the end of this connection alone
        }
    }

    /** Java's sockets have no timeout for writing; to close one ends the wait of whoever writes to it. */
    private static void watch() {
        try {
            while (true) {
                Thread.sleep(PATIENCE);
                rooms.values().forEach(members -> members.forEach(Chat::cutOffIfStuck));
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // nobody interrupts
        }
    }

    private Chat(Socket socket) throws IOException {
        this.socket = socket;
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = socket.getOutputStream();
    }

    private void talk() throws IOException {
        if (!shakeHands()) {
            return;
        }
        try {
            while (true) {
                String message = receive();
                if (message.startsWith("join ")) {
                    join(message.substring("join ".length()));
                } else if (message.startsWith("say ") && room != null) {
                    say(message.substring("say ".length()));
                } else {
                    throw new CloseException(POLICY);
                }
            }
        } catch (CloseException e) {
            close(e.code);
        } finally {
            leave();
        }
    }

    private boolean shakeHands() throws IOException {
        Map<String, String> headers = readHeaders();
        String key = headers.get("Sec-WebSocket-Key");
        boolean asked = key != null && "13".equals(headers.get("Sec-WebSocket-Version"))
            && lists(headers.get("Connection"), "upgrade") && lists(headers.get("Upgrade"), "websocket");
        String answer = asked
            ? "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept(key) + "\r\n\r\n"
            : "HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        out.write(answer.getBytes(StandardCharsets.US_ASCII));
        return asked;
    }

    /** None if this is not a request of HTTP that can be for a WebSocket. */
    private Map<String, String> readHeaders() throws IOException {
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
            if (head.length() == LONGEST_HEAD) {
                return Map.of();
            }
            head.append((char) in.readUnsignedByte());
        }
        var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        if (head.indexOf("GET ") == 0) {
            head.toString().lines().skip(1).map(line -> line.split(":", 2)).filter(header -> header.length == 2)
                .forEach(header -> headers.merge(header[0], header[1].strip(), (one, other) -> one + "," + other));
        }
        return headers;
    }

    private static boolean lists(String header, String token) {
        return header != null && Arrays.stream(header.split(",")).anyMatch(part -> part.strip().equalsIgnoreCase(token));
    }

    private static String accept(String key) {
        try {
            byte[] bytes = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII);
            return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-1").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** The next message. Answers the pings before it and between its fragments. */
    private String receive() throws IOException {
        var message = new ByteArrayOutputStream();
        boolean begun = false;
        while (true) {
            int first = in.readUnsignedByte();
            int second = in.readUnsignedByte();
            boolean last = (first & 0x80) != 0;
            int opcode = first & 0x0f;
            int size = second & 0x7f;
            boolean control = opcode >= CLOSE;
            boolean plain = (first & 0x70) == 0; // of no extension
            boolean masked = (second & 0x80) != 0;
            if (!plain || !masked || control && (!last || size > 125)) {
                throw new CloseException(PROTOCOL_ERROR);
            }
            long length = size == 127 ? in.readLong() : size == 126 ? in.readUnsignedShort() : size;
            if (!control && (length < 0 || length > LARGEST - message.size())) {
                throw new CloseException(TOO_BIG);
            }

            int mask = in.readInt();
            byte[] payload = new byte[(int) length];
            in.readFully(payload);
            for (int i = 0; i < payload.length; i++) {
                mask = Integer.rotateLeft(mask, 8);
                payload[i] ^= (byte) mask;
            }

            switch (opcode) {
                case TEXT, CONTINUATION -> {
                    if (begun != (opcode == CONTINUATION)) {
                        throw new CloseException(PROTOCOL_ERROR);
                    }
                    begun = true;
                    message.writeBytes(payload);
                    if (last) {
                        return decode(message.toByteArray());
                    }
                }
                case BINARY -> throw new CloseException(UNSUPPORTED);
                case CLOSE -> throw new CloseException(payload.length < 2 ? NORMAL : ByteBuffer.wrap(payload).getChar());
                case PING -> send(frame(PONG, payload));
                case PONG -> { }
                default -> throw new CloseException(PROTOCOL_ERROR);
            }
        }
    }

    private static String decode(byte[] text) throws CloseException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
        } catch (CharacterCodingException e) {
            throw new CloseException(INVALID);
        }
    }

    /** Synchronized, so that what is said in the room comes behind the answer. */
    private synchronized void join(String name) throws IOException {
        leave();
        room = name;
        rooms.compute(name, (key, members) -> {
            Set<Chat> joined = members == null ? ConcurrentHashMap.newKeySet() : members;
            joined.add(this);
            return joined;
        });
        send(frame(TEXT, ("joined " + name).getBytes(StandardCharsets.UTF_8)));
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
        byte[] frame = frame(TEXT, text.getBytes(StandardCharsets.UTF_8));
        for (Chat member : rooms.get(room)) {
            try {
                member.send(frame);
            } catch (IOException e) {
                // its own thread sees it, and has it leave
            }
        }
    }

    private synchronized void send(byte[] frame) throws IOException {
        writing = frame;
        out.write(frame);
        writing = null;
    }

    /** Waits for the client's end: to close a socket with something unread in it would reset it, and the client miss the code. */
    private void close(int code) throws IOException {
        synchronized (this) {
            send(frame(CLOSE, ByteBuffer.allocate(2).putChar((char) code).array()));
            socket.shutdownOutput();
        }
        leave(); // not before: the watch sees members of rooms only
        socket.setSoTimeout(PATIENCE);
        in.transferTo(OutputStream.nullOutputStream());
    }

    /** Stuck is a member to which the same frame was being written when the watch last looked. */
    private void cutOffIfStuck() {
        byte[] frame = writing;
        if (frame != null && frame == watched) {
            try {
                socket.setSoLinger(true, 0); // nor shall the kernel keep what waits
                socket.close();
            } catch (IOException e) {
                // it has been closed already
            }
        }
        watched = frame;
    }

    private static byte[] frame(int opcode, byte[] payload) {
        int length = payload.length;
        var frame = ByteBuffer.allocate(length + 10).put((byte) (0x80 | opcode));
        if (length < 126) {
            frame.put((byte) length);
        } else if (length < 65_536) {
            frame.put((byte) 126).putChar((char) length);
        } else {
            frame.put((byte) 127).putLong(length);
        }
        return Arrays.copyOf(frame.put(payload).array(), frame.position());
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

    /** Ends the connection with a close frame. */
    private static final class CloseException extends IOException {
        private final int code;

        CloseException(int code) {
            this.code = code;
        }
    }
}
