//! One thread of the operating system per connection, sending back what comes.
const std = @import("std");
const net = std.Io.net;

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const address = parse(try init.minimal.args.toSlice(init.arena.allocator())) orelse {
        std.debug.print("usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task\n", .{});
        std.process.exit(2);
    };

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

fn parse(args: []const [:0]const u8) ?net.IpAddress {
    if (args.len != 4 or !std.mem.eql(u8, args[2], "--listen")) return null;
    const tasks = number(args[1]) orelse return null; // nothing has to be sized beforehand
    return if (tasks > 0) net.IpAddress.parseLiteral(args[3]) catch null else null;
}

/// Digits only: parseInt alone takes "+1" and "1_000" as well.
fn number(text: []const u8) ?u32 {
    for (text) |digit| if (!std.ascii.isDigit(digit)) return null;
    return std.fmt.parseInt(u32, text, 10) catch null;
}
