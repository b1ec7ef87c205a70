/// A ring of fibers, each passing tokens from its channel to the next.
module ring_program;

import core.sys.posix.unistd : _exit;
import std.conv : to;
import std.exception : enforce;
import std.getopt : getopt;
import std.stdio;

import scheduler;

uint tasks, operations, tokens, launched, started, noted;
ulong sum;
Task root;
Channel!uint[] channels;

void task(uint number)
{
    if (++started == tasks)
    {
        writeln("alive ", tasks);
        stdout.flush();
        wake(root);
    }
    for (;;)
    {
        auto hops = channels[number].take();
        if (hops > 0)
            channels[(number + 1) % tasks].put(hops - 1);
        else
        {
            sum += number;
            if (++noted == tokens)
                wake(root);
        }
    }
}

/// A separate function, so that each closure has a number of its own.
void start(uint number)
{
    spawn({ task(number); });
}

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done 0\nfailed %s", tasks - launched);
    stdout.flush();
    _exit(1);
}

void main(string[] args)
{
    tokens = 1;
    getopt(args, "tokens", &tokens);
    enforce(args.length == 3, "usage: ring <tasks> <operations> [--tokens <tokens>]");
    tasks = args[1].to!uint;
    operations = args[2].to!uint;
    onRefusal = &giveUp;
    run({
        root = current;
        channels = new Channel!uint[tasks];
        for (; launched < tasks; launched++)
            start(launched);
        suspend();
        writeln("ready");
        stdout.flush();

        // The first tokens take the remainder.
        foreach (ulong token; 0 .. tokens)
            channels[token * tasks / tokens].put(operations / tokens + (token < operations % tokens));
        suspend();
        writefln("done %s\ncheck %s", operations, sum);
    });
    // The fibers end with the program.
}
