/// One OS thread per operation, spawned and joined, with a slot for its result.
module spawn_program;

import core.sys.posix.unistd : _exit;
import core.thread : Thread, ThreadError;
import std.algorithm : min, sum;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

__gshared uint tasks, operations, done;

/// A separate function, so that each closure has a number of its own.
Thread start(uint number, uint[] results)
{
    return new Thread({ results[number - done] = number; }).start();
}

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start %s tasks at once: %s", tasks, reason.msg);
    writefln("done %s\nfailed %s", done, operations - done);
    stdout.flush();
    _exit(1);
}

void main(string[] args)
{
    enforce(args.length == 3, "usage: spawn <tasks> <operations>");
    tasks = args[1].to!uint;
    operations = args[2].to!uint;
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
}
