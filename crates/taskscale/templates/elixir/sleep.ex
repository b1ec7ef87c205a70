# One Task per task, awaited together. Put your way of running tasks in its place.
defmodule Sleep do
  @started 1
  @finished 2
  @longest_wait 4_294_967

  def main(args) do
    case numbers(args) do
      [tasks, seconds] when is_integer(tasks) and tasks >= 1 and seconds in 0..@longest_wait ->
        # Shared by all tasks: the proof must add nothing to what a task holds.
        :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
        wait = :timer.seconds(seconds)
        1..tasks |> Enum.map(fn _ -> Task.async(fn -> task(wait) end) end) |> Task.await_many(:infinity)
        IO.puts("done #{finished()}")

      _ ->
        IO.puts(:stderr, "usage: sleep <tasks> <seconds>: whole numbers, at least one task")
        System.halt(2)
    end
  end

  defp task(wait) do
    {tasks, counters} = :persistent_term.get(__MODULE__)

    # The last to start says how many are alive. IO.puts writes at once.
    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end

    Process.sleep(wait)
    :atomics.add(counters, @finished, 1)
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
