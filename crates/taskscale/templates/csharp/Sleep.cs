// One call of an async method per task. Put your way of running tasks in its place.

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0)
{
    Console.Error.WriteLine("usage: sleep <tasks> <seconds>: whole numbers, at least one task");
    return 2;
}
TimeSpan wait = TimeSpan.FromSeconds(seconds);
// Shared by all tasks: the proof must add nothing to what a task holds.
int started = 0, finished = 0;

var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    tasks.Add(RunAsync());
}
await Task.WhenAll(tasks);

Console.WriteLine($"done {finished}");
return finished == count ? 0 : 1;

async Task RunAsync()
{
    // The last to start says how many are alive. Console flushes every line.
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
    }
    await Task.Delay(wait);
    Interlocked.Increment(ref finished);
}
