//! One thread of the operating system per operation, made and joined, with a slot for its result.
const std = @import("std");

pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    const io = init.io;
    const numbers = parse(try init.minimal.args.toSlice(init.arena.allocator())) orelse {
        std.debug.print("usage: spawn <tasks> <operations>: whole numbers, at least one of each\n", .{});
        std.process.exit(2);
    };
    const tasks, const operations = numbers;

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

fn parse(args: []const [:0]const u8) ?struct { u32, u32 } {
    if (args.len != 3) return null;
    const tasks = number(args[1]) orelse return null;
    const operations = number(args[2]) orelse return null;
    return if (tasks > 0 and operations > 0) .{ tasks, operations } else null;
}

/// Digits only: parseInt alone takes "+1" and "1_000" as well.
fn number(text: []const u8) ?u32 {
    for (text) |digit| if (!std.ascii.isDigit(digit)) return null;
    return std.fmt.parseInt(u32, text, 10) catch null;
}
