/// One fiber per task, each waiting for one message.
module park_program;

import core.sys.posix.unistd : _exit;
import core.time : dur, MonoTime;
import std.conv : ConvException, to;
import std.stdio;

import scheduler;

uint tasks, seconds, launched, started, finished;

void task(Channel!int* mailbox)
{
    if (++started == tasks)
    {
        writeln("alive ", tasks - finished);
        stdout.flush();
    }
    mailbox.take();
    finished++;
}

/// A function of its own, so that each closure has a mailbox of its own.
Task park(Channel!int* mailbox)
{
    return spawn({ task(mailbox); });
}

/// Ends the program, and every task with it, because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done %s\nfailed %s", finished, tasks - launched);
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
        seconds = args[2].to!uint;
    }
    catch (ConvException)
        return false;
    return tasks >= 1;
}

int main(string[] args)
{
    auto begin = MonoTime.currTime;
    if (!parse(args))
    {
        stderr.writeln("usage: park <tasks> <seconds>: whole numbers, at least one task");
        return 2;
    }
    onRefusal = &giveUp;
    run({
        auto mailboxes = new Channel!int[tasks];
        auto all = new Task[tasks];
        for (; launched < tasks; launched++)
            all[launched] = park(&mailboxes[launched]);
        sleepUntil(begin + dur!"seconds"(seconds));
        foreach (ref mailbox; mailboxes)
            mailbox.put(0);
        foreach (each; all)
            join(each);
    });
    writeln("done ", finished);
    return 0;
}
