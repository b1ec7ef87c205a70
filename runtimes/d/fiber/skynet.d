/// One fiber per node of a tree, each waiting for its ten children.
module skynet_program;

import core.sys.posix.unistd : _exit;
import std.algorithm : sum;
import std.conv : ConvException, to;
import std.stdio;

import scheduler;

uint tasks, operations, done;

/// Puts the sum of its leaves, which begin with `first`, where it is told.
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

/// Ends the program, and every task with it, because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start a tree of %s leaves: %s", tasks, reason.msg);
    writefln("done %s\nfailed %s", done, operations - done);
    stdout.flush();
    _exit(1);
}

bool parse(string[] args)
{
    if (args.length != 3)
        return false;
    try
    {
        tasks = args[1].to!uint;
        operations = args[2].to!uint;
    }
    catch (ConvException)
        return false;
    return isPowerOfTen(tasks) && operations >= 1 && operations % tasks == 0;
}

bool isPowerOfTen(uint number)
{
    while (number > 0 && number % 10 == 0)
        number /= 10;
    return number == 1;
}

int main(string[] args)
{
    if (!parse(args))
    {
        stderr.writeln("usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, ",
                "operations a multiple of it");
        return 2;
    }
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
    return 0;
}
