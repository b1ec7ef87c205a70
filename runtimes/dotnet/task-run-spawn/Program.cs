// One Task.Run per operation, awaited for its result.
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
