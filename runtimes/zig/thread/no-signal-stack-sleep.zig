//! sleep.zig without the signal stack that std allocates per thread.
const std = @import("std");

pub const main = @import("sleep.zig").main;

pub const std_options: std.Options = .{ .signal_stack_size = null };
