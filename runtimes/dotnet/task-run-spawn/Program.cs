// One Task.Run per operation, made and awaited for its result.

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int operations) || operations < 1)
{
    Console.Error.WriteLine("usage: task-run-spawn <tasks> <operations>: whole numbers, at least one of each");
    return 2;
}
Console.WriteLine("ready");

var tasks = new List<Task<long>>();
long sum = 0;
for (int done = 0; done < operations; done += tasks.Count)
{
    tasks.Clear();
    int round = Math.Min(count, operations - done);
    for (int i = 0; i < round; i++)
    {
        long number = done + i;
        tasks.Add(Task.Run(() => number));
    }
    foreach (long result in await Task.WhenAll(tasks))
    {
        sum += result;
    }
}

Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");
return 0;
