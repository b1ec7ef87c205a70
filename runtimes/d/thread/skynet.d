/// A tree of OS threads, each joining its ten children.
module skynet_program;

import core.sync.mutex : Mutex;
import core.sys.posix.unistd : _exit;
import core.thread : Thread, ThreadError;
import std.algorithm : sum;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

__gshared uint tasks, operations, done;

/// Starts a node that stores first + ... + (first + leaves - 1) in `result`.
Thread start(uint first, uint leaves, ulong* result)
{
    auto thread = new Thread({ *result = node(first, leaves); });
    try
        thread.start();
    catch (ThreadError error)
        giveUp(error);
    return thread;
}

ulong node(uint first, uint leaves)
{
    if (leaves == 1)
        return first;
    Thread[10] children;
    ulong[10] sums;
    auto share = leaves / 10;
    foreach (uint i, ref child; children)
        child = start(first + i * share, share, &sums[i]);
    foreach (child; children)
        child.join();
    return sums[].sum;
}

__gshared Mutex report;

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    // Several threads can fail at once: the first reports.
    report.lock_nothrow();
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
    report = new Mutex;
    writeln("ready");
    stdout.flush();
    ulong total;
    for (; done < operations; done += tasks)
    {
        ulong sum;
        start(0, tasks, &sum).join();
        total += sum;
    }
    writefln("done %s\ncheck %s", operations, total);
}
