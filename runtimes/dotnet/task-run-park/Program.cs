// One Task.Run of an async lambda per task, each waiting for one message.
using System.Diagnostics;

long begin = Stopwatch.GetTimestamp();
if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0)
{
    Console.Error.WriteLine("usage: task-run-park <tasks> <seconds>: whole numbers, at least one task");
    return 2;
}
TimeSpan wait = TimeSpan.FromSeconds(seconds);
int started = 0, finished = 0;

var mailboxes = new List<TaskCompletionSource>(count);
var tasks = new List<Task>(count);
try
{
    for (int i = 0; i < count; i++)
    {
        // Without this option the sender would run what follows the await, and the next task would wait for that.
        var mailbox = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        mailboxes.Add(mailbox);
        tasks.Add(Task.Run(async () =>
        {
            if (Interlocked.Increment(ref started) == count)
            {
                Console.WriteLine($"alive {count - Volatile.Read(ref finished)}");
            }
            await mailbox.Task;
            Interlocked.Increment(ref finished);
        }));
    }

    TimeSpan rest = wait - Stopwatch.GetElapsedTime(begin);
    if (rest > TimeSpan.Zero)
    {
        await Task.Delay(rest);
    }
    foreach (TaskCompletionSource mailbox in mailboxes)
    {
        mailbox.SetResult();
    }
    await Task.WhenAll(tasks);
}
catch (OutOfMemoryException e)
{
    Console.Error.WriteLine($"cannot start task {tasks.Count + 1} of {count}: {e.Message}");
    Console.WriteLine($"done {finished}");
    Console.WriteLine($"failed {count - tasks.Count}");
    return 1;
}

Console.WriteLine($"done {finished}");
return finished == count ? 0 : 1;
