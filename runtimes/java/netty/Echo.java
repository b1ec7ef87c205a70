import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.net.InetSocketAddress;
import java.net.URI;

/** One handler for all connections; it sends back what comes. */
@Sharable
final class Echo extends ChannelInboundHandlerAdapter {
    public static void main(String[] args) throws InterruptedException {
        var address = URI.create("tcp://" + args[2]); // <tasks> --listen <host>:<port>
        var server = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(EpollIoHandler.newFactory()))
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 4096)
                .childHandler(new Echo())
                .bind(address.getHost(), address.getPort()).sync().channel();
        System.out.println("listening " + ((InetSocketAddress) server.localAddress()).getPort());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        context.write(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.flush();
    }

    /** Reads no more while a client is slow to take its echo. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        context.channel().config().setAutoRead(context.channel().isWritable());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
