/// One thread of the operating system per operation, made and joined, with a slot for its result.
module spawn_program;

import core.sys.posix.unistd : _exit;
import core.thread : Thread, ThreadError;
import std.algorithm : min, sum;
import std.conv : ConvException, to;
import std.stdio;

__gshared uint tasks, operations, done;

/// A function of its own, so that each closure has a number of its own.
Thread start(uint number, uint[] results)
{
    return new Thread({ results[number - done] = number; }).start();
}

/// Ends the program, and every task with it, because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start %s tasks at once: %s", tasks, reason.msg);
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
    return tasks >= 1 && operations >= 1;
}

int main(string[] args)
{
    if (!parse(args))
    {
        stderr.writeln("usage: spawn <tasks> <operations>: whole numbers, at least one of each");
        return 2;
    }
    writeln("ready");
    stdout.flush();
    auto all = new Thread[min(tasks, operations)];
    auto results = new uint[all.length];
    ulong total;
    while (done < operations)
    {
        auto round = min(tasks, operations - done);
        try
            foreach (i; 0 .. round)
                all[i] = start(done + i, results);
        catch (ThreadError error)
            giveUp(error);
        foreach (each; all[0 .. round])
            each.join();
        total += results[0 .. round].sum(0UL);
        done += round;
    }
    writefln("done %s\ncheck %s", operations, total);
    return 0;
}
