// One timer per task: Task.Delay, which runs no code of the task's own.

if (args is not [var first, var second]
    || !int.TryParse(first, out int count) || count < 1
    || !int.TryParse(second, out int seconds) || seconds < 0)
{
    Console.Error.WriteLine("usage: task-delay <tasks> <seconds>: whole numbers, at least one task");
    return 2;
}
TimeSpan wait = TimeSpan.FromSeconds(seconds);

var tasks = new List<Task>(count);
try
{
    for (int i = 0; i < count; i++)
    {
        tasks.Add(Task.Delay(wait));
    }
}
catch (OutOfMemoryException e)
{
    Console.Error.WriteLine($"cannot start task {tasks.Count + 1} of {count}: {e.Message}");
    Console.WriteLine($"done {tasks.Count(task => task.IsCompletedSuccessfully)}");
    Console.WriteLine($"failed {count - tasks.Count}");
    return 1;
}
// Nothing of a timer could count itself in or out, but its task knows whether it is over.
// All have started by now, so each that is not over yet was alive when the last one started.
Console.WriteLine($"alive {tasks.Count(task => !task.IsCompleted)}");
await Task.WhenAll(tasks);

int done = tasks.Count(task => task.IsCompletedSuccessfully);
Console.WriteLine($"done {done}");
return done == count ? 0 : 1;
