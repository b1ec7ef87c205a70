/// One OS thread per task.
module sleep_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.thread : Thread, ThreadError;
import core.time : dur;
import std.conv : to;
import std.exception : enforce;
import std.stdio;

// Global, so that counting adds nothing to the memory of a task.
shared uint started, finished;
__gshared uint tasks, seconds, launched;

void task()
{
    if (started.atomicOp!"+="(1) == tasks)
    {
        writeln("alive ", tasks - finished.atomicLoad);
        stdout.flush();
    }
    Thread.sleep(dur!"seconds"(seconds));
    finished.atomicOp!"+="(1);
}

/// Ends the program because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done %s\nfailed %s", finished.atomicLoad, tasks - launched);
    stdout.flush();
    _exit(1);
}

void main(string[] args)
{
    enforce(args.length == 3, "usage: sleep <tasks> <seconds>");
    tasks = args[1].to!uint;
    seconds = args[2].to!uint;
    auto all = new Thread[tasks];
    try
        for (; launched < tasks; launched++)
            all[launched] = new Thread(&task).start();
    catch (ThreadError error)
        giveUp(error);
    foreach (each; all)
        each.join();
    writeln("done ", finished.atomicLoad);
}
