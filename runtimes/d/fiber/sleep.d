/// One fiber per task, with a stack of its own.
module sleep_program;

import core.sys.posix.unistd : _exit;
import core.time : dur;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

import scheduler;

uint tasks, seconds, launched, started, finished;

void task()
{
    if (++started == tasks)
    {
        writeln("alive ", tasks - finished);
        stdout.flush();
    }
    sleep(dur!"seconds"(seconds));
    finished++;
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
    enforce(args.length == 3, "usage: sleep <tasks> <seconds>");
    tasks = args[1].to!uint;
    seconds = args[2].to!uint;
    onRefusal = &giveUp;
    run({
        auto all = new Task[tasks];
        for (; launched < tasks; launched++)
            all[launched] = spawn({ task(); });
        foreach (each; all)
            join(each);
    });
    writeln("done ", finished);
}
