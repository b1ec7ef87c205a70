// One timer per task: Task.Delay, without code of the task's own.
int count = int.Parse(args[0]);
TimeSpan wait = TimeSpan.FromSeconds(int.Parse(args[1]));

var tasks = new List<Task>(count);
for (int i = 0; i < count; i++)
{
    tasks.Add(Task.Delay(wait));
}
// A timer has no code that could count itself in. All have started by now: those that are not completed are alive.
Console.WriteLine($"alive {tasks.Count(task => !task.IsCompleted)}");
await Task.WhenAll(tasks);
Console.WriteLine($"done {tasks.Count(task => task.IsCompletedSuccessfully)}");
