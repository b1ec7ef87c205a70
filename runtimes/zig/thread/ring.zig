//! One thread of the operating system per place in a ring, each handing on the tokens that come through its queue.
const std = @import("std");

var started: std.atomic.Value(u32) = .init(0);
var all_alive: std.Io.Event = .unset;

/// Has room for one number, in `buffer`: of the hops that a token has left, or of the task that holds it in the end.
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
    const numbers = parse(try init.minimal.args.toSlice(init.arena.allocator())) orelse {
        std.debug.print("usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, " ++
            "at least one operation, at most half as many tokens as tasks\n", .{});
        std.process.exit(2);
    };
    const tasks, const operations, const tokens = numbers;

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
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
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

fn parse(args: []const [:0]const u8) ?struct { u32, u32, u32 } {
    if (args.len != 3 and !(args.len == 5 and std.mem.eql(u8, args[3], "--tokens"))) return null;
    const tasks = number(args[1]) orelse return null;
    const operations = number(args[2]) orelse return null;
    const tokens = if (args.len == 5) number(args[4]) orelse return null else 1;
    return if (operations > 0 and tokens > 0 and tokens <= tasks / 2) .{ tasks, operations, tokens } else null;
}

/// Digits only: parseInt alone takes "+1" and "1_000" as well.
fn number(text: []const u8) ?u32 {
    for (text) |digit| if (!std.ascii.isDigit(digit)) return null;
    return std.fmt.parseInt(u32, text, 10) catch null;
}
