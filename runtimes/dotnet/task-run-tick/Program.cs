// One Task.Run of an async method per task, each a heartbeat: it wakes once in every period.

using System.Diagnostics;
using System.Numerics;

if (args is not [var first, var second, .. var options]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0
    || Given.Parse(options) is not { } given)
{
    Console.Error.WriteLine("usage: task-run-tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: whole numbers, at least one task and millisecond");
    return 2;
}
TimeSpan period = TimeSpan.FromMilliseconds(given.PeriodMs), hog = TimeSpan.FromMilliseconds(given.HogMs);
// Since when all instants are counted.
Stopwatch clock = Stopwatch.StartNew();
TimeSpan end = TimeSpan.FromSeconds(seconds);
int started = 0, finished = 0;
// Bucket b: ticks that were late by less than 2^b µs, and not less than half of that.
var late = new long[32];

var tasks = new List<Task>(count + given.Hogs);
try
{
    for (int i = 0; i < count; i++)
    {
        int number = i;
        tasks.Add(Task.Run(() => Beat(number)));
    }
    for (int i = 0; i < given.Hogs; i++)
    {
        tasks.Add(Task.Run(Compute));
    }
    await Task.WhenAll(tasks);
}
catch (OutOfMemoryException e)
{
    int launched = Math.Min(tasks.Count, count - 1);
    Console.Error.WriteLine($"cannot start task {launched + 1} of {count}: {e.Message}");
    Console.WriteLine($"done {finished}");
    Console.WriteLine($"failed {count - launched}");
    return 1;
}

Console.WriteLine($"done {finished}");
Console.WriteLine($"histogram late_us {string.Join(' ', late)}");
return finished == count ? 0 : 1;

async Task Beat(int number)
{
    TimeSpan due = period * number / count;
    for (TimeSpan start = clock.Elapsed; due < start;)
    {
        due += period;
    }
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
    }
    for (; due < end; due += period)
    {
        await SleepUntil(due);
        TimeSpan now = clock.Elapsed;
        if (now >= end)
        {
            break;
        }
        if (Volatile.Read(ref started) == count)
        {
            Count(now - due);
        }
    }
    await SleepUntil(end);
    Interlocked.Increment(ref finished);
}

// A delay is of whole milliseconds, and may end a little too soon.
async Task SleepUntil(TimeSpan instant)
{
    while (instant - clock.Elapsed is var left && left > TimeSpan.Zero)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)));
    }
}

void Count(TimeSpan wait)
{
    int bucket = 64 - BitOperations.LeadingZeroCount((ulong)wait.TotalMicroseconds);
    Interlocked.Increment(ref late[Math.Min(bucket, late.Length - 1)]);
}

// Computes, yields, and so on.
async Task Compute()
{
    while (clock.Elapsed < end)
    {
        for (TimeSpan until = clock.Elapsed + hog; clock.Elapsed < until;)
        {
        }
        await Task.Yield();
    }
}

record Given(int PeriodMs = 1000, int Hogs = 0, int HogMs = 10)
{
    public static Given? Parse(string[] words)
    {
        var given = new Given();
        foreach (string[] pair in words.Chunk(2))
        {
            if (pair is not [var name, var word] || !int.TryParse(word, out int number))
            {
                return null;
            }
            switch (name)
            {
                case "--period-ms": given = given with { PeriodMs = number }; break;
                case "--hogs": given = given with { Hogs = number }; break;
                case "--hog-ms": given = given with { HogMs = number }; break;
                default: return null;
            }
        }
        return given is { PeriodMs: >= 1, Hogs: >= 0, HogMs: >= 1 } ? given : null;
    }
}
