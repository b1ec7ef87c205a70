import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One pipeline of handlers per connection, run by the event loop of the connection. A room is a ChannelGroup. */
final class Chat extends SimpleChannelInboundHandler<WebSocketFrame> {
    private static final int MAX_MESSAGE = 64 << 10;  // bytes
    private static final int MAX_UNSENT = 1 << 20;    // bytes for one member
    private static final int MAX_REQUEST = 8 << 10;   // bytes of the body of an HTTP request

    private static final Map<String, ChannelGroup> rooms = new ConcurrentHashMap<>();

    private String room;

    public static void main(String[] args) throws InterruptedException {
        var address = URI.create("tcp://" + args[2]); // <tasks> --listen <host>:<port>
        var server = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory()))
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 4096)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(MAX_UNSENT / 2, MAX_UNSENT))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(
                                new HttpServerCodec(),
                                new HttpObjectAggregator(MAX_REQUEST),
                                new WebSocketServerProtocolHandler(CONFIG),
                                new WebSocketFrameAggregator(MAX_MESSAGE),
                                new Chat());
                    }
                })
                .bind(address.getHost(), address.getPort()).sync().channel();
        System.out.println("listening " + ((InetSocketAddress) server.localAddress()).getPort());
    }

    private static final WebSocketServerProtocolConfig CONFIG = WebSocketServerProtocolConfig.newBuilder()
            .websocketPath("/")
            .checkStartsWith(true)
            .maxFramePayloadLength(MAX_MESSAGE)
            .build();

    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
        if (!(frame instanceof TextWebSocketFrame textFrame)) {
            close(context, WebSocketCloseStatus.INVALID_MESSAGE_TYPE);
            return;
        }
        String message = textFrame.text();
        if (message.startsWith("join ")) {
            leave(context.channel());
            join(context.channel(), message.substring("join ".length()));
        } else if (message.startsWith("say ") && room != null) {
            rooms.get(room).writeAndFlush(new TextWebSocketFrame(message.substring("say ".length())));
        } else {
            close(context, WebSocketCloseStatus.POLICY_VIOLATION);
        }
    }

    private void join(Channel channel, String name) {
        room = name;
        rooms.compute(name, (key, group) -> {
            ChannelGroup joined = group == null ? new DefaultChannelGroup(GlobalEventExecutor.INSTANCE) : group;
            joined.add(channel);
            return joined;
        });
        channel.writeAndFlush(new TextWebSocketFrame("joined " + name));
    }

    private void leave(Channel channel) {
        if (room != null) {
            rooms.computeIfPresent(room, (key, group) -> {
                group.remove(channel);
                return group.isEmpty() ? null : group;
            });
        }
    }

    /** A member with more than MAX_UNSENT bytes queued is cut off. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (!context.channel().isWritable()) {
            context.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        leave(context.channel());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof TooLongFrameException) {
            close(context, WebSocketCloseStatus.MESSAGE_TOO_BIG);
        } else {
            context.close();
        }
    }

    private static void close(ChannelHandlerContext context, WebSocketCloseStatus status) {
        context.writeAndFlush(new CloseWebSocketFrame(status)).addListener(ChannelFutureListener.CLOSE);
    }
}
