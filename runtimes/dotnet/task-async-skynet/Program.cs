// One call of an async method per node of a tree, which awaits its ten children.
const int Children = 10;

int count = int.Parse(args[0]), operations = int.Parse(args[1]);
Console.WriteLine("ready");

long sum = 0;
for (int tree = 0; tree < operations / count; tree++)
{
    sum += await NodeAsync(0, count);
}

Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");

// The sum of `leaves` numbers from `first` on.
static async Task<long> NodeAsync(long first, int leaves)
{
    // Without this the first call would run the whole tree before it returns.
    await Task.Yield();
    if (leaves == 1)
    {
        return first;
    }
    int share = leaves / Children;
    var children = new List<Task<long>>(Children);
    for (int i = 0; i < Children; i++)
    {
        children.Add(NodeAsync(first + i * share, share));
    }
    return (await Task.WhenAll(children)).Sum();
}
