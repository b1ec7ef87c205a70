// One call of an async method per operation, awaited for its result. Put your way of running tasks in its place.

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int operations) || operations < 1)
{
    Console.Error.WriteLine("usage: spawn <tasks> <operations>: whole numbers, at least one of each");
    return 2;
}
// All is prepared. Console flushes every line.
Console.WriteLine("ready");

var tasks = new List<Task<long>>();
long sum = 0;
for (int done = 0; done < operations; done += tasks.Count)
{
    tasks.Clear();
    int round = Math.Min(count, operations - done);
    for (int i = 0; i < round; i++)
    {
        tasks.Add(RunAsync(done + i));
    }
    foreach (long result in await Task.WhenAll(tasks))
    {
        sum += result;
    }
}

Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");
return 0;

async Task<long> RunAsync(long number)
{
    await Task.Yield(); // else the task would be over before its caller goes on
    return number;
}
