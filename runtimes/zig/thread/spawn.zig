//! One OS thread per operation, spawned and joined, with a slot for its result.
const std = @import("std");

pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    const io = init.io;
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len < 3) return error.MissingArgument;
    const tasks = try std.fmt.parseInt(u32, args[1], 10);
    const operations = try std.fmt.parseInt(u32, args[2], 10);

    const threads = try gpa.alloc(std.Thread, @min(tasks, operations));
    defer gpa.free(threads);
    const results = try gpa.alloc(u64, threads.len);
    defer gpa.free(results);
    say(io, "ready\n", .{});

    var sum: u64 = 0;
    var done: u32 = 0;
    while (done < operations) {
        const round = @min(tasks, operations - done);
        for (threads[0..round], results[0..round], done..) |*thread, *result, i| {
            thread.* = std.Thread.spawn(.{}, task, .{ i, result }) catch |err| {
                std.debug.print("cannot start {d} tasks at once: {t}\n", .{ tasks, err });
                say(io, "done {d}\nfailed {d}\n", .{ done, operations - done });
                std.process.exit(1);
            };
        }
        for (threads[0..round], results[0..round]) |thread, *result| {
            thread.join();
            sum += result.*;
        }
        done += round;
    }

    say(io, "done {d}\ncheck {d}\n", .{ operations, sum });
}

fn task(i: u64, result: *u64) void {
    result.* = i;
}

/// Writes to standard output without a buffer.
fn say(io: std.Io, comptime format: []const u8, args: anytype) void {
    var writer = std.Io.File.stdout().writerStreaming(io, &.{});
    writer.interface.print(format, args) catch {};
}
