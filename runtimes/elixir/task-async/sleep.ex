# One Task per task, awaited together.
defmodule Sleep do
  @started 1
  @finished 2

  def main(args) do
    [tasks, seconds] = Enum.map(args, &String.to_integer/1)
    # A persistent term is not copied: the counters add nothing to a process.
    :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
    wait = :timer.seconds(seconds)
    tasks..1//-1 |> Enum.map(&launch(&1, wait)) |> Task.await_many(:infinity)
    IO.puts("done #{finished()}")
  end

  defp launch(left, wait) do
    Task.async(fn -> task(wait) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{left} tasks: the process limit (+P) is reached")
      IO.puts("failed #{left}")
      System.halt(1)
  end

  defp task(wait) do
    {tasks, counters} = :persistent_term.get(__MODULE__)

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
end
