# One Task per task, which waits for one message, awaited together.
defmodule Park do
  @started 1
  @finished 2

  def main(args) do
    start = System.monotonic_time(:millisecond)
    [tasks, seconds] = Enum.map(args, &String.to_integer/1)
    # A persistent term is not copied: the counters add nothing to a process.
    :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
    parked = Enum.map(tasks..1//-1, &launch/1)
    due = start + :timer.seconds(seconds)
    Process.sleep(max(due - System.monotonic_time(:millisecond), 0))
    Enum.each(parked, &send(&1.pid, :wake))
    Task.await_many(parked, :infinity)
    IO.puts("done #{finished()}")
  end

  defp launch(left) do
    Task.async(&task/0)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{left} tasks: the process limit (+P) is reached")
      IO.puts("failed #{left}")
      System.halt(1)
  end

  defp task do
    {tasks, counters} = :persistent_term.get(__MODULE__)

    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end

    receive do
      :wake -> :ok
    end

    :atomics.add(counters, @finished, 1)
  end

  defp finished do
    {_tasks, counters} = :persistent_term.get(__MODULE__)
    :atomics.get(counters, @finished)
  end
end
