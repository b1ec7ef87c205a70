// One Task.Run per node of a tree, each of which awaits its ten children.

const int Children = 10;

if (args is not [var first, var second]
    || first.TrimEnd('0') != "1" || !int.TryParse(first, out int count)
    || !int.TryParse(second, out int operations) || operations < 1 || operations % count != 0)
{
    Console.Error.WriteLine("usage: task-run-skynet <tasks> <operations>: a power of ten, and a multiple of it");
    return 2;
}
Console.WriteLine("ready");

long sum = 0;
for (int tree = 0; tree < operations / count; tree++)
{
    sum += await Node(0, count);
}

Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");
return 0;

// The node with so many leaves from this number on.
static Task<long> Node(long first, int leaves)
{
    if (leaves == 1)
    {
        return Task.Run(() => first);
    }
    return Task.Run(async () =>
    {
        int share = leaves / Children;
        var children = new List<Task<long>>(Children);
        for (int i = 0; i < Children; i++)
        {
            children.Add(Node(first + i * share, share));
        }
        return (await Task.WhenAll(children)).Sum();
    });
}
