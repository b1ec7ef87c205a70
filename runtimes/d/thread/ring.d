/// A ring of OS threads, each passing tokens from its mailbox to the next.
module ring_program;

import core.atomic;
import core.sys.posix.unistd : _exit;
import core.sync.semaphore : Semaphore;
import core.thread : ThreadError;
import std.concurrency : receive, receiveOnly, send, spawn, thisTid, Tid;
import std.conv : to;
import std.exception : enforce;
import std.getopt : getopt;
import std.stdio;

/// A number of hops left.
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

void task(uint number, Tid root)
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
                    root.send(number);
            },
            (Stop _) { stopped = true; });
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

    // The first tokens take the remainder.
    foreach (ulong token; 0 .. tokens)
        all[token * tasks / tokens].send(Token(operations / tokens + (token < operations % tokens)));
    ulong sum;
    foreach (_; 0 .. tokens)
        sum += receiveOnly!uint();
    writefln("done %s\ncheck %s", operations, sum);
    stdout.flush();

    foreach (each; all)
        each.send(Stop());
}
