// One Task.Run of an async method per task, which keeps bytes of its own while it waits.
int count = int.Parse(args[0]);
TimeSpan wait = TimeSpan.FromSeconds(int.Parse(args[1]));
int bytes = Option("--bytes", 1024), depth = Option("--depth", 1);
int started = 0, finished = 0;

var tasks = new List<Task<long>>(count);
for (int i = 0; i < count; i++)
{
    int number = i;
    tasks.Add(Task.Run(async () =>
    {
        long sum = await Hold(number, depth);
        Interlocked.Increment(ref finished);
        return sum;
    }));
}
long total = 0;
foreach (Task<long> task in tasks)
{
    total += await task;
}
Console.WriteLine($"done {finished}");
Console.WriteLine($"check {total}");

// Fills the task's bytes `calls` calls deep, waits, and sums them.
async Task<long> Hold(int number, int calls)
{
    if (calls > 1)
    {
        return await Hold(number, calls - 1);
    }
    var state = new byte[bytes];
    for (int k = 0; k < bytes; k++)
    {
        state[k] = (byte)((number + k) % 251);
    }
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
    }
    await Task.Delay(wait);
    long sum = 0;
    foreach (byte value in state)
    {
        sum += value;
    }
    return sum;
}

int Option(string name, int value)
{
    int index = Array.IndexOf(args, name);
    return index < 0 ? value : int.Parse(args[index + 1]);
}
