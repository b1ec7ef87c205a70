# One process per task, made by spawn, each holding bytes of its own while it waits.
defmodule State do
  @started 1
  @finished 2
  @longest_wait 4_294_967

  def main(args) do
    case arguments(args) do
      {:ok, tasks, seconds, bytes, depth} ->
        # Persistent terms, so that the proof and the pattern add nothing to what a task holds.
        :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, [])})
        # Byte k of task i is rem(i + k, 251): a part of one pattern.
        pattern = for k <- 0..(bytes + 249), into: <<>>, do: <<rem(k, 251)>>
        :persistent_term.put(:pattern, pattern)
        wait = :timer.seconds(seconds)
        Enum.each(0..(tasks - 1), &launch(&1, tasks, bytes, depth, wait))
        sum = collect(tasks, 0)
        IO.puts("done #{finished()}\ncheck #{sum}")

      :error ->
        IO.puts(
          :stderr,
          "usage: state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: whole numbers, at least one task, byte and call"
        )

        System.halt(2)
    end
  end

  defp launch(number, tasks, bytes, depth, wait) do
    parent = self()
    spawn(fn -> task(parent, number, bytes, depth, wait) end)
  rescue
    SystemLimitError ->
      IO.puts(
        :stderr,
        "cannot start task #{number + 1} of #{tasks}: the process limit is reached (+P)"
      )

      IO.puts("done #{finished()}\nfailed #{tasks - number}")
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

  # Fills the bytes of a task so many calls down, waits, and sums them.
  defp hold(number, bytes, 1, wait) do
    # A copy: what is cut out of a binary would refer to the whole.
    state = :binary.copy(binary_part(:persistent_term.get(:pattern), rem(number, 251), bytes))
    count_in()
    Process.sleep(wait)
    sum_of(state, 0)
  end

  defp hold(number, bytes, calls, wait) do
    # What comes after the call keeps its frame.
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

  defp arguments([tasks, seconds | options]) do
    with {tasks, ""} when tasks >= 1 <- Integer.parse(tasks),
         {seconds, ""} when seconds in 0..@longest_wait <- Integer.parse(seconds),
         {given, [], []} <- OptionParser.parse(options, strict: [bytes: :integer, depth: :integer]),
         bytes when bytes >= 1 <- Keyword.get(given, :bytes, 1024),
         depth when depth >= 1 <- Keyword.get(given, :depth, 1) do
      {:ok, tasks, seconds, bytes, depth}
    else
      _ -> :error
    end
  end

  defp arguments(_), do: :error
end
