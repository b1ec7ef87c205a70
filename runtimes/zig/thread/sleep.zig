//! One OS thread per task.
const std = @import("std");

var started: std.atomic.Value(u32) = .init(0);
var finished: std.atomic.Value(u32) = .init(0);

pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    const io = init.io;
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len < 3) return error.MissingArgument;
    const tasks = try std.fmt.parseInt(u32, args[1], 10);
    const seconds = try std.fmt.parseInt(u32, args[2], 10);

    const threads = try gpa.alloc(std.Thread, tasks);
    defer gpa.free(threads);
    for (threads, 0..) |*thread, launched| {
        thread.* = std.Thread.spawn(.{}, task, .{ io, tasks, seconds }) catch |err| {
            std.debug.print("cannot start task {d} of {d}: {t}\n", .{ launched + 1, tasks, err });
            say(io, "done {d}\nfailed {d}\n", .{ finished.load(.seq_cst), tasks - launched });
            std.process.exit(1);
        };
    }
    for (threads) |thread| thread.join();

    say(io, "done {d}\n", .{finished.load(.seq_cst)});
}

fn task(io: std.Io, tasks: u32, seconds: u32) void {
    if (started.fetchAdd(1, .seq_cst) + 1 == tasks) {
        say(io, "alive {d}\n", .{tasks - finished.load(.seq_cst)});
    }
    io.sleep(.fromSeconds(seconds), .awake) catch return; // never canceled
    _ = finished.fetchAdd(1, .seq_cst);
}

/// Writes to standard output without a buffer.
fn say(io: std.Io, comptime format: []const u8, args: anytype) void {
    var writer = std.Io.File.stdout().writerStreaming(io, &.{});
    writer.interface.print(format, args) catch {};
}
