// One Task.Run of an async lambda per task, each handing the tokens of its channel to the next.
using System.Threading.Channels;

// A token is the hops that it has left; this one ends a task.
const int End = -1;

int tokens = 1;
if (args is not [var first, var second, .. var rest]
    || !int.TryParse(first, out int count) || count < 2
    || !int.TryParse(second, out int operations) || operations < 1
    || (rest is not [] && (rest is not ["--tokens", var third] || !int.TryParse(third, out tokens)))
    || tokens < 1 || tokens > count / 2)
{
    Console.Error.WriteLine("usage: task-run-ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token");
    return 2;
}

int started = 0;
// Without this option the last task would run what follows in the main task before its own.
var allStarted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
var noted = Channel.CreateUnbounded<int>();

var channels = new List<Channel<int>>(count);
for (int i = 0; i < count; i++)
{
    channels.Add(Channel.CreateBounded<int>(1));
}
var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    int number = i;
    ChannelReader<int> own = channels[i];
    ChannelWriter<int> next = channels[(i + 1) % count];
    tasks.Add(Task.Run(async () =>
    {
        if (Interlocked.Increment(ref started) == count)
        {
            Console.WriteLine($"alive {count}");
            allStarted.SetResult();
        }
        while (await own.ReadAsync() is var hops and not End)
        {
            if (hops > 0)
            {
                await next.WriteAsync(hops - 1);
            }
            else
            {
                await noted.Writer.WriteAsync(number);
            }
        }
    }));
}
await allStarted.Task;
Console.WriteLine("ready");

for (int token = 0; token < tokens; token++)
{
    int start = (int)((long)token * count / tokens);
    await channels[start].Writer.WriteAsync(operations / tokens + (token < operations % tokens ? 1 : 0));
}
long sum = 0;
for (int token = 0; token < tokens; token++)
{
    sum += await noted.Reader.ReadAsync();
}
Console.WriteLine($"done {operations}");
Console.WriteLine($"check {sum}");

foreach (Channel<int> channel in channels)
{
    await channel.Writer.WriteAsync(End);
}
await Task.WhenAll(tasks);
return 0;
