//! One OS thread per connection, echoing what it reads.
const std = @import("std");
const net = std.Io.net;

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len < 4) return error.MissingArgument;
    _ = try std.fmt.parseInt(u32, args[1], 10);
    const address = try net.IpAddress.parseLiteral(args[3]);

    var server = try address.listen(io, .{ .kernel_backlog = 4096, .reuse_address = true });
    say(io, "listening {d}\n", .{server.socket.address.getPort()});
    while (true) {
        const stream = server.accept(io) catch |err| switch (err) {
            error.ProcessFdQuotaExceeded => {
                std.debug.print("too many open files\n", .{});
                std.process.exit(1);
            },
            else => return err,
        };
        const thread = try std.Thread.spawn(.{}, task, .{ io, stream });
        thread.detach();
    }
}

fn task(io: std.Io, stream: net.Stream) void {
    defer stream.close(io);
    echo(io, stream) catch {}; // the client is gone
}

fn echo(io: std.Io, stream: net.Stream) !void {
    const on = std.mem.toBytes(@as(c_int, 1));
    try std.posix.setsockopt(stream.socket.handle, std.posix.IPPROTO.TCP, std.posix.TCP.NODELAY, &on);
    var buffer: [4096]u8 = undefined;
    var reader = stream.reader(io, &.{}); // reads into the writer's buffer
    var writer = stream.writer(io, &buffer);
    while (true) {
        _ = try reader.interface.stream(&writer.interface, .unlimited);
        try writer.interface.flush();
    }
}

/// Writes to standard output without a buffer.
fn say(io: std.Io, comptime format: []const u8, args: anytype) void {
    var writer = std.Io.File.stdout().writerStreaming(io, &.{});
    writer.interface.print(format, args) catch {};
}
