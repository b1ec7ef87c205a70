/// One thread of the operating system per place in a ring, each handing on the tokens that come to its mailbox.
module ring_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.sync.semaphore : Semaphore;
import core.thread : ThreadError;
import std.concurrency : receive, receiveOnly, send, spawn, thisTid, Tid;
import std.conv : ConvException, to;
import std.stdio;

/// How many hops are left.
struct Token
{
    uint hops;
}

/// Ends a task.
struct Stop
{
}

shared uint started;
__gshared uint tasks, operations, tokens, launched;
__gshared Semaphore allAlive;

void task(uint number, Tid leader)
{
    auto next = receiveOnly!Tid();
    if (started.atomicOp!"+="(1) == tasks)
    {
        writeln("alive ", tasks);
        stdout.flush();
        allAlive.notify();
    }
    for (auto stopped = false; !stopped;)
        receive(
            (Token token) {
                if (token.hops > 0)
                    next.send(Token(token.hops - 1));
                else
                    leader.send(number);
            },
            (Stop _) { stopped = true; });
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
    allAlive = new Semaphore;
    auto all = new Tid[tasks];
    try
        for (; launched < tasks; launched++)
            all[launched] = spawn(&task, launched, thisTid);
    catch (ThreadError error)
        giveUp(error);
    foreach (i, each; all)
        each.send(all[(i + 1) % tasks]);
    allAlive.wait();
    writeln("ready");
    stdout.flush();

    // Where the operations cannot be shared evenly, the first tokens make one hop more.
    foreach (ulong token; 0 .. tokens)
        all[token * tasks / tokens].send(Token(operations / tokens + (token < operations % tokens)));
    ulong sum;
    foreach (_; 0 .. tokens)
        sum += receiveOnly!uint();
    writefln("done %s\ncheck %s", operations, sum);
    stdout.flush();

    foreach (each; all)
        each.send(Stop());
    return 0;
}
