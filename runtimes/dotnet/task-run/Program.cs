// One Task.Run of an async lambda per task: started by the thread pool, not by the loop.

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0)
{
    Console.Error.WriteLine("usage: task-run <tasks> <seconds>: whole numbers, at least one task");
    return 2;
}
TimeSpan wait = TimeSpan.FromSeconds(seconds);
int started = 0, finished = 0;

var tasks = new List<Task>(count);
try
{
    for (int i = 0; i < count; i++)
    {
        tasks.Add(Task.Run(async () =>
        {
            if (Interlocked.Increment(ref started) == count)
            {
                Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
            }
            await Task.Delay(wait);
            Interlocked.Increment(ref finished);
        }));
    }
    await Task.WhenAll(tasks);
}
catch (OutOfMemoryException e)
{
    Console.Error.WriteLine($"cannot start task {tasks.Count + 1} of {count}: {e.Message}");
    Console.WriteLine($"done {finished}");
    Console.WriteLine($"failed {count - tasks.Count}");
    return 1;
}

Console.WriteLine($"done {finished}");
return finished == count ? 0 : 1;
