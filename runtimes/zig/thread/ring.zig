//! A ring of OS threads, each passing tokens from its queue to the next.
const std = @import("std");

var started: std.atomic.Value(u32) = .init(0);
var all_alive: std.Io.Event = .unset;

/// A queue of one number: the hops that a token has left, or the task where it ended.
const Channel = struct {
    buffer: [1]u32,
    queue: std.Io.Queue(u32),

    fn init(channel: *Channel) void {
        channel.queue = .init(&channel.buffer);
    }
};

pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    const io = init.io;
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len < 3) return error.MissingArgument;
    const tasks = try std.fmt.parseInt(u32, args[1], 10);
    const operations = try std.fmt.parseInt(u32, args[2], 10);
    const tokens: u32 = if (args.len > 4) try std.fmt.parseInt(u32, args[4], 10) else 1; // after --tokens

    const threads = try gpa.alloc(std.Thread, tasks);
    defer gpa.free(threads);
    const channels = try gpa.alloc(Channel, tasks);
    defer gpa.free(channels);
    for (channels) |*channel| channel.init();
    var noted: Channel = undefined;
    noted.init();
    for (threads, 0..) |*thread, i| {
        thread.* = std.Thread.spawn(.{}, task, .{ io, channels, i, &noted }) catch |err| {
            std.debug.print("cannot start task {d} of {d}: {t}\n", .{ i + 1, tasks, err });
            say(io, "done 0\nfailed {d}\n", .{tasks - i});
            std.process.exit(1);
        };
    }
    all_alive.waitUncancelable(io);
    say(io, "ready\n", .{});

    for (0..tokens) |token| {
        // The first tokens take the remainder.
        const hops = operations / tokens + @intFromBool(token < operations % tokens);
        try channels[token * tasks / tokens].queue.putOne(io, hops);
    }
    var sum: u64 = 0;
    for (0..tokens) |_| sum += try noted.queue.getOne(io);
    say(io, "done {d}\ncheck {d}\n", .{ operations, sum });

    for (channels) |*channel| channel.queue.close(io);
    for (threads) |thread| thread.join();
}

fn task(io: std.Io, channels: []Channel, i: usize, noted: *Channel) void {
    const own = &channels[i].queue;
    const next = &channels[(i + 1) % channels.len].queue;
    if (started.fetchAdd(1, .seq_cst) + 1 == channels.len) {
        say(io, "alive {d}\n", .{channels.len});
        all_alive.set(io);
    }
    while (own.getOneUncancelable(io)) |hops| {
        if (hops > 0) {
            next.putOneUncancelable(io, hops - 1) catch unreachable; // closed when all tokens have been noted
        } else {
            noted.queue.putOneUncancelable(io, @intCast(i)) catch unreachable; // never closed
        }
    } else |err| switch (err) {
        error.Closed => {},
    }
}

/// Writes to standard output without a buffer.
fn say(io: std.Io, comptime format: []const u8, args: anytype) void {
    var writer = std.Io.File.stdout().writerStreaming(io, &.{});
    writer.interface.print(format, args) catch {};
}
