/// One OS thread per task, each waiting for one message.
module park_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.thread : Thread, thread_joinAll, ThreadError;
import core.time : dur, MonoTime;
import std.concurrency : receiveOnly, send, spawn, Tid;
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
    receiveOnly!bool();
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
    auto begin = MonoTime.currTime;
    enforce(args.length == 3, "usage: park <tasks> <seconds>");
    tasks = args[1].to!uint;
    seconds = args[2].to!uint;
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
}
