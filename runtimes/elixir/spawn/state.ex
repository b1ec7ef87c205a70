# One process per task, created by spawn, which keeps bytes of its own while it waits.
defmodule State do
  @started 1
  @finished 2

  def main(args) do
    {options, numbers} = OptionParser.parse!(args, strict: [bytes: :integer, depth: :integer])
    [tasks, seconds] = Enum.map(numbers, &String.to_integer/1)
    bytes = Keyword.get(options, :bytes, 1024)
    depth = Keyword.get(options, :depth, 1)
    # Persistent terms are not copied: counters and pattern add nothing to a process.
    :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
    # Byte k of task i is rem(i + k, 251): a part of one pattern.
    pattern = for k <- 0..(bytes + 249), into: <<>>, do: <<rem(k, 251)>>
    :persistent_term.put(:pattern, pattern)
    wait = :timer.seconds(seconds)
    Enum.each(0..(tasks - 1), &launch(&1, tasks, bytes, depth, wait))
    sum = collect(tasks, 0)
    IO.puts("done #{finished()}\ncheck #{sum}")
  end

  defp launch(number, tasks, bytes, depth, wait) do
    parent = self()
    spawn(fn -> task(parent, number, bytes, depth, wait) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{tasks - number} tasks: the process limit (+P) is reached")
      IO.puts("failed #{tasks - number}")
      System.halt(1)
  end

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:done, part} -> collect(left - 1, sum + part)
    end
  end

  defp task(parent, number, bytes, depth, wait) do
    sum = hold(number, bytes, depth, wait)
    {_tasks, counters} = :persistent_term.get(__MODULE__)
    :atomics.add(counters, @finished, 1)
    send(parent, {:done, sum})
  end

  # Fills the task's bytes `calls` calls deep, waits, and sums them.
  defp hold(number, bytes, 1, wait) do
    # Copied, as a part of a binary refers to the whole.
    state = :binary.copy(binary_part(:persistent_term.get(:pattern), rem(number, 251), bytes))
    count_in()
    Process.sleep(wait)
    sum_of(state, 0)
  end

  defp hold(number, bytes, calls, wait) do
    # No tail call, so that each call keeps its frame.
    sum = hold(number, bytes, calls - 1, wait)
    sum + 0
  end

  defp sum_of(<<byte, rest::binary>>, sum), do: sum_of(rest, sum + byte)
  defp sum_of(<<>>, sum), do: sum

  defp count_in do
    {tasks, counters} = :persistent_term.get(__MODULE__)

    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end
  end

  defp finished do
    {_tasks, counters} = :persistent_term.get(__MODULE__)
    :atomics.get(counters, @finished)
  end
end
