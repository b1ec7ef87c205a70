/// Runs fibers in one thread. D's runtime has fibers, but no event loop to resume them: this is a minimal one.
module scheduler;

import core.exception : OutOfMemoryError;
import core.stdc.signal : SIGABRT, signal;
import core.thread : Fiber, Thread;
import core.time : Duration, MonoTime;
import std.container : Array, BinaryHeap;

/// Called when the system refuses memory for the stack of a fiber; does not return.
void function(Throwable) onRefusal;

final class Task : Fiber
{
    private Task next; // in the ready queue
    private Task joiner;
    private MonoTime due;

    this(void delegate() run)
    {
        super(run);
    }
}

private Task firstReady, lastReady;
private BinaryHeap!(Array!Task, (a, b) => a.due > b.due) sleeping;

Task current()
{
    return cast(Task) Fiber.getThis();
}

/// Suspends the current task until `wake`.
void suspend()
{
    Fiber.yield();
}

void wake(Task task)
{
    if (lastReady is null)
        firstReady = task;
    else
        lastReady.next = task;
    lastReady = task;
}

Task spawn(void delegate() run)
{
    Task task;
    try
        task = new Task(run);
    catch (OutOfMemoryError error)
        onRefusal(error);
    wake(task);
    return task;
}

/// Waits for a task to end, and frees its stack at once, not when the collector runs.
void join(Task task)
{
    if (task.state != Fiber.State.TERM)
    {
        task.joiner = current;
        suspend();
    }
    destroy(task);
}

void sleepUntil(MonoTime due)
{
    auto task = current;
    task.due = due;
    sleeping.insert(task);
    suspend();
}

void sleep(Duration wait)
{
    sleepUntil(MonoTime.currTime + wait);
}

/// Runs a task, and those that it spawns, until it ends.
void run(void delegate() root)
{
    // The runtime aborts if it cannot protect the guard page of a new stack.
    signal(SIGABRT, &refused);
    auto task = spawn(root);
    while (task.state != Fiber.State.TERM)
    {
        if (firstReady is null)
        {
            auto wait = sleeping.front.due - MonoTime.currTime;
            if (wait > Duration.zero)
                Thread.sleep(wait);
            wake(sleeping.removeAny());
        }
        runNext();
    }
}

private void runNext()
{
    auto task = firstReady;
    firstReady = task.next;
    if (firstReady is null)
        lastReady = null;
    task.next = null;
    task.call();
    if (task.state == Fiber.State.TERM && task.joiner !is null)
        wake(task.joiner);
}

private extern (C) void refused(int) nothrow @nogc
{
    static immutable error = new Error("cannot protect the guard page of a stack");
    (cast(void function(const Throwable) nothrow @nogc) onRefusal)(error);
}

/// A channel of capacity 1, for one receiver; at most one sender may wait for room.
struct Channel(T)
{
    private T message;
    private bool full;
    private Task sender, receiver;

    void put(T message)
    {
        while (full)
        {
            sender = current;
            suspend();
        }
        this.message = message;
        full = true;
        wakeOnce(receiver);
    }

    T take()
    {
        while (!full)
        {
            receiver = current;
            suspend();
        }
        full = false;
        wakeOnce(sender);
        return message;
    }

    private static void wakeOnce(ref Task waiting)
    {
        if (waiting is null)
            return;
        wake(waiting);
        waiting = null;
    }
}
