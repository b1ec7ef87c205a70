/// One thread of the operating system per task, each waiting for one message.
module park_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.thread : Thread, thread_joinAll, ThreadError;
import core.time : dur, MonoTime;
import std.concurrency : receiveOnly, send, spawn, Tid;
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
    receiveOnly!bool();
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
    auto begin = MonoTime.currTime;
    if (!parse(args))
    {
        stderr.writeln("usage: park <tasks> <seconds>: whole numbers, at least one task");
        return 2;
    }
    auto all = new Tid[tasks];
    try
        for (; launched < tasks; launched++)
            all[launched] = spawn(&task);
    catch (ThreadError error)
        giveUp(error);
    auto wait = begin + dur!"seconds"(seconds) - MonoTime.currTime;
    if (!wait.isNegative)
        Thread.sleep(wait);
    foreach (each; all)
        each.send(true);
    thread_joinAll();
    writeln("done ", finished.atomicLoad);
    return 0;
}
