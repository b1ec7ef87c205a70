// One call of an async method per task, which awaits one message.
using System.Diagnostics;

long start = Stopwatch.GetTimestamp();
int count = int.Parse(args[0]);
TimeSpan wait = TimeSpan.FromSeconds(int.Parse(args[1]));
int started = 0, finished = 0;

var mailboxes = new List<TaskCompletionSource>(count);
var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    // Without this option SetResult would run the rest of the task before it returns.
    var mailbox = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
    mailboxes.Add(mailbox);
    tasks.Add(RunAsync(mailbox.Task));
}

TimeSpan rest = wait - Stopwatch.GetElapsedTime(start);
if (rest > TimeSpan.Zero)
{
    await Task.Delay(rest);
}
foreach (TaskCompletionSource mailbox in mailboxes)
{
    mailbox.SetResult();
}
await Task.WhenAll(tasks);
Console.WriteLine($"done {finished}");

async Task RunAsync(Task message)
{
    if (Interlocked.Increment(ref started) == count)
    {
        Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
    }
    await message;
    Interlocked.Increment(ref finished);
}
