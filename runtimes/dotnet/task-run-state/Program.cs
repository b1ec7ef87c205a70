// One Task.Run of an async method per task, each holding bytes of its own while it waits.

if (args is not [var first, var second, .. var options]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0
    || Options(options) is not (>= 1 and var bytes, >= 1 and var depth))
{
    Console.Error.WriteLine("usage: task-run-state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: whole numbers, at least one task, byte and call");
    return 2;
}
TimeSpan wait = TimeSpan.FromSeconds(seconds);
int started = 0, finished = 0;

var tasks = new List<Task<long>>(count);
long sum = 0;
try
{
    for (int i = 0; i < count; i++)
    {
        int number = i;
        tasks.Add(Task.Run(async () =>
        {
            long held = await Hold(number, depth);
            Interlocked.Increment(ref finished);
            return held;
        }));
    }
    foreach (Task<long> task in tasks)
    {
        sum += await task;
    }
}
catch (OutOfMemoryException e)
{
    Console.Error.WriteLine($"cannot start task {tasks.Count + 1} of {count}: {e.Message}");
    Console.WriteLine($"done {finished}");
    Console.WriteLine($"failed {count - tasks.Count}");
    return 1;
}

Console.WriteLine($"done {finished}");
Console.WriteLine($"check {sum}");
return finished == count ? 0 : 1;

// Fills the bytes of a task so many calls down, waits, and sums them.
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
    long held = 0;
    foreach (byte value in state)
    {
        held += value;
    }
    return held;
}

// What is not whole is 0, which is too little for either.
static (int Bytes, int Depth) Options(string[] words) => words switch
{
    [] => (1024, 1),
    ["--bytes", var bytes] => (Number(bytes), 1),
    ["--depth", var depth] => (1024, Number(depth)),
    ["--bytes", var bytes, "--depth", var depth] => (Number(bytes), Number(depth)),
    ["--depth", var depth, "--bytes", var bytes] => (Number(bytes), Number(depth)),
    _ => (0, 0),
};

static int Number(string word) => int.TryParse(word, out int number) ? number : 0;
