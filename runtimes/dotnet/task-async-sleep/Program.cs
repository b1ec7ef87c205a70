// One call of an async method per task.
int count = int.Parse(args[0]);
TimeSpan wait = TimeSpan.FromSeconds(int.Parse(args[1]));
int started = 0, finished = 0;

var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    tasks.Add(RunAsync());
}
await Task.WhenAll(tasks);
Console.WriteLine($"done {finished}");

async Task RunAsync()
{
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
    }
    await Task.Delay(wait);
    Interlocked.Increment(ref finished);
}
