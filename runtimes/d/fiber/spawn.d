/// One fiber per operation, spawned and joined, with a slot for its result.
module spawn_program;

import core.sys.posix.unistd : _exit;
import std.algorithm : min, sum;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

import scheduler;

uint tasks, operations, done;

/// A separate function, so that each closure has a number of its own.
Task start(uint number, uint[] results)
{
    return spawn({ results[number - done] = number; });
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
    onRefusal = &giveUp;
    ulong total;
    run({
        writeln("ready");
        stdout.flush();
        auto all = new Task[min(tasks, operations)];
        auto results = new uint[all.length];
        while (done < operations)
        {
            auto round = min(tasks, operations - done);
            foreach (i; 0 .. round)
                all[i] = start(done + i, results);
            foreach (each; all[0 .. round])
                join(each);
            total += results[0 .. round].sum(0UL);
            done += round;
        }
    });
    writefln("done %s\ncheck %s", operations, total);
}
