// One call of an async method per operation, awaited for its result.
int count = int.Parse(args[0]), operations = int.Parse(args[1]);
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

static async Task<long> RunAsync(long number)
{
    // Without this the method would run to its end before the call returns.
    await Task.Yield();
    return number;
}
