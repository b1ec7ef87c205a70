/// A tree of fibers, each waiting for its ten children.
module skynet_program;

import core.sys.posix.unistd : _exit;
import std.algorithm : sum;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

import scheduler;

uint tasks, operations, done;

/// Starts a node that stores first + ... + (first + leaves - 1) in `result`.
Task start(uint first, uint leaves, ulong* result)
{
    return spawn({ *result = node(first, leaves); });
}

ulong node(uint first, uint leaves)
{
    if (leaves == 1)
        return first;
    Task[10] children;
    ulong[10] sums;
    auto share = leaves / 10;
    foreach (uint i, ref child; children)
        child = start(first + i * share, share, &sums[i]);
    foreach (child; children)
        join(child);
    return sums[].sum;
}

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start a tree of %s leaves: %s", tasks, reason.msg);
    writefln("done %s\nfailed %s", done, operations - done);
    stdout.flush();
    _exit(1);
}

void main(string[] args)
{
    enforce(args.length == 3, "usage: skynet <tasks> <operations>");
    tasks = args[1].to!uint;
    operations = args[2].to!uint;
    onRefusal = &giveUp;
    ulong total;
    run({
        writeln("ready");
        stdout.flush();
        for (; done < operations; done += tasks)
        {
            ulong sum;
            join(start(0, tasks, &sum));
            total += sum;
        }
    });
    writefln("done %s\ncheck %s", operations, total);
}
