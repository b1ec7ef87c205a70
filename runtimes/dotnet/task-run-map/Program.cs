// One Task.Run per task. All of them add to one map and read from it.
using System.Collections.Concurrent;

const int Filled = 65_536;

int count = int.Parse(args[0]), operations = int.Parse(args[1]);
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

// The sum of the values that these operations read.
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

// The product of two uints is modulo 2^32.
static uint Key(int i) => unchecked((uint)i * 2_654_435_761);
