//! A tree of OS threads, each joining its ten children.
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

    /// Sets `sum` to first + ... + (first + leaves - 1).
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

    /// Ends the program because a task cannot start.
    fn giveUp(tree: *Tree, err: std.Thread.SpawnError) noreturn {
        // Several threads can fail at once: the first reports.
        while (tree.refused.swap(true, .seq_cst)) std.Thread.yield() catch {};
        std.debug.print("cannot start a tree of {d} leaves: {t}\n", .{ tree.leaves, err });
        say(tree.io, "done {d}\nfailed {d}\n", .{ tree.done, tree.operations - tree.done });
        std.process.exit(1);
    }
};

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len < 3) return error.MissingArgument;
    const leaves = try std.fmt.parseInt(u32, args[1], 10);
    const operations = try std.fmt.parseInt(u32, args[2], 10);
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
