// Loops by Task.Run: nanoseconds an operation, the best of ten rounds of a warm machine.
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Channels;

const int Round = 1_000_000;

async Task Spawn(int atOnce)
{
    long sum = 0;
    for (var i = 0; i < Round / atOnce; i++)
    {
        var tasks = Enumerable.Range(0, atOnce).Select(number => Task.Run(() => (long)number));
        foreach (var number in await Task.WhenAll(tasks)) sum += number;
    }
    if (sum != (long)Round * (atOnce - 1) / 2) throw new InvalidOperationException();
}

async Task Hop()
{
    var there = Channel.CreateBounded<int>(1);
    var back = Channel.CreateBounded<int>(1);
    var other = Task.Run(async () =>
    {
        for (var i = 0; i < Round / 2; i++)
            await back.Writer.WriteAsync(await there.Reader.ReadAsync());
    });
    for (var i = 0; i < Round / 2; i++)
    {
        await there.Writer.WriteAsync(i);
        await back.Reader.ReadAsync();
    }
    await other;
}

Task Pair()
{
    static uint Key(uint i) => unchecked(i * 2_654_435_761);
    var entries = new ConcurrentDictionary<uint, uint>();
    for (uint i = 0; i < 65_536; i++) entries[Key(i)] = i;
    ulong sum = 0;
    for (uint j = 0; j < Round; j++)
    {
        entries[Key(65_536 + j)] = 65_536 + j;
        sum += entries[Key(j % 65_536)];
    }
    return sum == 0 ? throw new InvalidOperationException() : Task.CompletedTask;
}

// As atemerev/skynet, by Task.WhenAll.
async Task<long> Node(long first, long leaves)
{
    if (leaves == 1) return first;
    var share = leaves / 10;
    var children = Enumerable.Range(0, 10).Select(i => Task.Run(() => Node(first + i * share, share)));
    return (await Task.WhenAll(children)).Sum();
}

async Task Leaf()
{
    if (await Node(0, Round) != 499_999_500_000) throw new InvalidOperationException();
}

Func<Task> loop = args[0] switch
{
    "spawn-one" => () => Spawn(1),
    "spawn-thousand" => () => Spawn(1000),
    "hop" => Hop,
    "pair" => Pair,
    "leaf" => Leaf,
    _ => throw new ArgumentException("spawn-one|spawn-thousand|hop|pair|leaf"),
};
var best = TimeSpan.MaxValue;
for (var round = 0; round < 10; round++)
{
    var start = Stopwatch.GetTimestamp();
    await Task.Run(loop);
    var took = Stopwatch.GetElapsedTime(start);
    best = took < best ? took : best;
}
Console.WriteLine($"{best.TotalNanoseconds / Round:F1}");
