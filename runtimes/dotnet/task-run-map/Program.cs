// One Task.Run per task, all adding to one map and reading from it.
using System.Collections.Concurrent;

const int Filled = 65_536;

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int operations) || operations < 1)
{
    Console.Error.WriteLine("usage: task-run-map <tasks> <operations>: whole numbers, at least one of each");
    return 2;
}
var map = new ConcurrentDictionary<uint, int>();
for (int i = 0; i < Filled; i++)
{
    map[Key(i)] = i;
}
Console.WriteLine("ready");

var tasks = new List<Task<long>>(count);
for (int i = 0; i < count; i++)
{
    int start = (int)((long)i * operations / count);
    int end = (int)((i + 1L) * operations / count);
    tasks.Add(Task.Run(() => Work(start, end)));
}
long sum = (await Task.WhenAll(tasks)).Sum();

Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum + map.Count}");
return 0;

// Does these operations, and returns the sum of what it read.
long Work(int start, int end)
{
    long sum = 0;
    for (int operation = start; operation < end; operation++)
    {
        int added = Filled + operation;
        map[Key(added)] = added;
        sum += map[Key(operation % Filled)];
    }
    return sum;
}

// Modulo 2^32, as the product of uint is.
static uint Key(int i) => unchecked((uint)i * 2_654_435_761);
