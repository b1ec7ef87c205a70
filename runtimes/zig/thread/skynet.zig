//! One thread of the operating system per node of a tree, each joining its ten children.
const std = @import("std");

const Tree = struct {
    io: std.Io,
    leaves: u32,
    operations: u32,
    done: u32 = 0,
    refused: std.atomic.Value(bool) = .init(false),

    fn start(tree: *Tree, first: u32, leaves: u32, sum: *u64) std.Thread {
        return std.Thread.spawn(.{}, node, .{ tree, first, leaves, sum }) catch |err| tree.giveUp(err);
    }

    /// Puts the sum of the numbers of its leaves, which begin with `first`, into `sum`.
    fn node(tree: *Tree, first: u32, leaves: u32, sum: *u64) void {
        if (leaves == 1) {
            sum.* = first;
            return;
        }
        const share = leaves / 10;
        var threads: [10]std.Thread = undefined;
        var sums: [10]u64 = undefined;
        for (&threads, &sums, 0..) |*thread, *child, i| {
            thread.* = tree.start(first + @as(u32, @intCast(i)) * share, share, child);
        }
        sum.* = 0;
        for (threads, &sums) |thread, *child| {
            thread.join();
            sum.* += child.*;
        }
    }

    /// Ends the program, and every task with it, because a task cannot start.
    fn giveUp(tree: *Tree, err: std.Thread.SpawnError) noreturn {
        // Several threads can fail at once; the first one reports, the others wait for the end here.
        while (tree.refused.swap(true, .seq_cst)) std.Thread.yield() catch {};
        std.debug.print("cannot start a tree of {d} leaves: {t}\n", .{ tree.leaves, err });
        say(tree.io, "done {d}\nfailed {d}\n", .{ tree.done, tree.operations - tree.done });
        std.process.exit(1);
    }
};

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const numbers = parse(try init.minimal.args.toSlice(init.arena.allocator())) orelse {
        std.debug.print("usage: skynet <tasks> <operations>: whole numbers, " ++
            "tasks a power of ten, operations a multiple of it\n", .{});
        std.process.exit(2);
    };
    const leaves, const operations = numbers;
    say(io, "ready\n", .{});

    var tree: Tree = .{ .io = io, .leaves = leaves, .operations = operations };
    var sum: u64 = 0;
    while (tree.done < operations) : (tree.done += leaves) {
        var root: u64 = undefined;
        tree.start(0, leaves, &root).join();
        sum += root;
    }

    say(io, "done {d}\ncheck {d}\n", .{ operations, sum });
}

/// Writes to standard output without a buffer.
fn say(io: std.Io, comptime format: []const u8, args: anytype) void {
    var writer = std.Io.File.stdout().writerStreaming(io, &.{});
    writer.interface.print(format, args) catch {};
}

fn parse(args: []const [:0]const u8) ?struct { u32, u32 } {
    if (args.len != 3) return null;
    const leaves = number(args[1]) orelse return null;
    const operations = number(args[2]) orelse return null;
    return if (isPowerOfTen(leaves) and operations > 0 and operations % leaves == 0) .{ leaves, operations } else null;
}

fn isPowerOfTen(given: u32) bool {
    var rest = given;
    while (rest > 0 and rest % 10 == 0) rest /= 10;
    return rest == 1;
}

/// Digits only: parseInt alone takes "+1" and "1_000" as well.
fn number(text: []const u8) ?u32 {
    for (text) |digit| if (!std.ascii.isDigit(digit)) return null;
    return std.fmt.parseInt(u32, text, 10) catch null;
}
