/// One fiber per task, each waiting for one message.
module park_program;

import core.sys.posix.unistd : _exit;
import core.time : dur, MonoTime;
import std.conv : to;
import std.exception : enforce;
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

/// A separate function, so that each closure has a mailbox of its own.
Task park(Channel!int* mailbox)
{
    return spawn({ task(mailbox); });
}

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done %s\nfailed %s", finished, tasks - launched);
    stdout.flush();
    _exit(1);
}

void main(string[] args)
{
    auto begin = MonoTime.currTime;
    enforce(args.length == 3, "usage: park <tasks> <seconds>");
    tasks = args[1].to!uint;
    seconds = args[2].to!uint;
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
}
