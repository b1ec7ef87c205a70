// One call of an async method per task, which passes tokens from its channel to that of the next task.
using System.Threading.Channels;

// A token is the number of hops that it has left. This one ends a task.
const int End = -1;

int count = int.Parse(args[0]), operations = int.Parse(args[1]);
int tokens = args is [_, _, "--tokens", var option] ? int.Parse(option) : 1;
int started = 0;
var arrived = Channel.CreateUnbounded<int>();

var channels = new List<Channel<int>>(count);
for (int i = 0; i < count; i++)
{
    channels.Add(Channel.CreateBounded<int>(1));
}
var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    tasks.Add(RunAsync(i, channels[i], channels[(i + 1) % count]));
}
// Each call has returned, so each task waits at its channel.
Console.WriteLine("ready");

for (int token = 0; token < tokens; token++)
{
    int start = (int)((long)token * count / tokens);
    await channels[start].Writer.WriteAsync(operations / tokens + (token < operations % tokens ? 1 : 0));
}
long sum = 0;
for (int token = 0; token < tokens; token++)
{
    sum += await arrived.Reader.ReadAsync();
}
Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");

foreach (Channel<int> channel in channels)
{
    await channel.Writer.WriteAsync(End);
}
await Task.WhenAll(tasks);

async Task RunAsync(int number, ChannelReader<int> own, ChannelWriter<int> next)
{
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count}");
    }
    while (await own.ReadAsync() is var hops and not End)
    {
        if (hops > 0)
        {
            await next.WriteAsync(hops - 1);
        }
        else
        {
            await arrived.Writer.WriteAsync(number);
        }
    }
}
