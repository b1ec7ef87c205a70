/// One fiber per place in a ring, each handing on the tokens that come through its channel.
module ring_program;

import core.sys.posix.unistd : _exit;
import std.conv : ConvException, to;
import std.stdio;

import scheduler;

uint tasks, operations, tokens, launched, started, noted;
ulong sum;
Task leader;
Channel!uint[] channels;

void task(uint number)
{
    if (++started == tasks)
    {
        writeln("alive ", tasks);
        stdout.flush();
        wake(leader);
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
                wake(leader);
        }
    }
}

/// A function of its own, so that each closure has a number of its own.
void start(uint number)
{
    spawn({ task(number); });
}

/// Ends the program, and every task with it, because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done 0\nfailed %s", tasks - launched);
    stdout.flush();
    _exit(1);
}

bool parse(string[] args)
{
    if (args.length != 3 && !(args.length == 5 && args[3] == "--tokens"))
        return false;
    try
    {
        tasks = args[1].to!uint;
        operations = args[2].to!uint;
        tokens = args.length == 5 ? args[4].to!uint : 1;
    }
    catch (ConvException)
        return false;
    return operations >= 1 && tokens >= 1 && tokens <= tasks / 2;
}

int main(string[] args)
{
    if (!parse(args))
    {
        stderr.writeln("usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, ",
                "at most half as many tokens as tasks");
        return 2;
    }
    onRefusal = &giveUp;
    run({
        leader = current;
        channels = new Channel!uint[tasks];
        for (; launched < tasks; launched++)
            start(launched);
        suspend();
        writeln("ready");
        stdout.flush();

        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        foreach (ulong token; 0 .. tokens)
            channels[token * tasks / tokens].put(operations / tokens + (token < operations % tokens));
        suspend();
        writefln("done %s\ncheck %s", operations, sum);
    });
    // The fibers end with the program.
    return 0;
}
