# One process per task, made by spawn, each waiting for one message.
defmodule Park do
  @started 1
  @finished 2
  @longest_wait 4_294_967

  def main(args) do
    start = System.monotonic_time(:millisecond)

    case numbers(args) do
      [tasks, seconds] when is_integer(tasks) and tasks >= 1 and seconds in 0..@longest_wait ->
        # A persistent term, so that proving the tasks alive adds nothing to what a task holds.
        :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
        pids = Enum.map(1..tasks, &launch(&1, tasks))
        due = start + :timer.seconds(seconds)
        Process.sleep(max(due - System.monotonic_time(:millisecond), 0))
        Enum.each(pids, &send(&1, :wake))
        collect(tasks)
        IO.puts("done #{finished()}")

      _ ->
        IO.puts(:stderr, "usage: park <tasks> <seconds>: whole numbers, at least one task")
        System.halt(2)
    end
  end

  defp launch(index, tasks) do
    parent = self()
    spawn(fn -> task(parent) end)
  rescue
    SystemLimitError ->
      IO.puts(
        :stderr,
        "cannot start task #{index} of #{tasks}: the process limit is reached (+P)"
      )

      IO.puts("done #{finished()}\nfailed #{tasks - index + 1}")
      System.halt(1)
  end

  defp collect(0), do: :ok

  defp collect(left) do
    receive do
      :done -> collect(left - 1)
    end
  end

  defp task(parent) do
    {tasks, counters} = :persistent_term.get(__MODULE__)

    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end

    receive do
      :wake -> :ok
    end

    :atomics.add(counters, @finished, 1)
    send(parent, :done)
  end

  defp finished do
    {_tasks, counters} = :persistent_term.get(__MODULE__)
    :atomics.get(counters, @finished)
  end

  defp numbers(args) do
    for arg <- args do
      case Integer.parse(arg) do
        {number, ""} -> number
        _ -> nil
      end
    end
  end
end
