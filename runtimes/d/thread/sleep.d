/// One thread of the operating system per task.
module sleep_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.thread : Thread, ThreadError;
import core.time : dur;
import std.conv : ConvException, to;
import std.stdio;

// Shared by all tasks, so that proving them alive adds nothing to what a task holds.
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

/// Ends the program, and every task with it, because a task cannot start.
void giveUp(Throwable reason)
{
    stderr.writefln("cannot start task %s of %s: %s", launched + 1, tasks, reason.msg);
    writefln("done %s\nfailed %s", finished.atomicLoad, tasks - launched);
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
    if (!parse(args))
    {
        stderr.writeln("usage: sleep <tasks> <seconds>: whole numbers, at least one task");
        return 2;
    }
    auto all = new Thread[tasks];
    try
        for (; launched < tasks; launched++)
            all[launched] = new Thread(&task).start();
    catch (ThreadError error)
        giveUp(error);
    foreach (each; all)
        each.join();
    writeln("done ", finished.atomicLoad);
    return 0;
}
