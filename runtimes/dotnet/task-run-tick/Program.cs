// One Task.Run of an async method per task, which wakes once in every period.
using System.Diagnostics;
using System.Numerics;

int count = int.Parse(args[0]);
TimeSpan end = TimeSpan.FromSeconds(int.Parse(args[1]));
TimeSpan period = TimeSpan.FromMilliseconds(Option("--period-ms", 1000));
int hogs = Option("--hogs", 0);
TimeSpan hogTime = TimeSpan.FromMilliseconds(Option("--hog-ms", 10));
Stopwatch clock = Stopwatch.StartNew();
int started = 0, finished = 0;
// Bucket b counts ticks that were less than 2^b µs late, and at least half of that.
var late = new long[32];

var tasks = new List<Task>(count + hogs);
for (int i = 0; i < count; i++)
{
    int number = i;
    tasks.Add(Task.Run(() => Beat(number)));
}
for (int i = 0; i < hogs; i++)
{
    tasks.Add(Task.Run(Compute));
}
await Task.WhenAll(tasks);
Console.WriteLine($"done {finished}");
Console.WriteLine($"histogram late_us {string.Join(' ', late)}");

async Task Beat(int number)
{
    TimeSpan due = period * number / count;
    while (due < clock.Elapsed)
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

// Task.Delay counts whole milliseconds, and may end a little too early.
async Task SleepUntil(TimeSpan instant)
{
    while (instant - clock.Elapsed is var left && left > TimeSpan.Zero)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)));
    }
}

void Count(TimeSpan delay)
{
    int bucket = 64 - BitOperations.LeadingZeroCount((ulong)delay.TotalMicroseconds);
    Interlocked.Increment(ref late[Math.Min(bucket, late.Length - 1)]);
}

async Task Compute()
{
    while (clock.Elapsed < end)
    {
        TimeSpan until = clock.Elapsed + hogTime;
        while (clock.Elapsed < until)
        {
        }
        await Task.Yield();
    }
}

int Option(string name, int value)
{
    int index = Array.IndexOf(args, name);
    return index < 0 ? value : int.Parse(args[index + 1]);
}
