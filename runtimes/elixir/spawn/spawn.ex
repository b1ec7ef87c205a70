# One process per operation, created by spawn, and a message back with its result.
defmodule Spawn do
  def main(args) do
    [tasks, operations] = Enum.map(args, &String.to_integer/1)
    IO.puts("ready")
    sum = rounds(0, tasks, operations, 0)
    IO.puts("done #{operations}\ncheck #{sum}")
  end

  defp rounds(operations, _tasks, operations, sum), do: sum

  defp rounds(first, tasks, operations, sum) do
    next = min(first + tasks, operations)
    launch(first, next, operations)
    rounds(next, tasks, operations, sum + collect(next - first, 0))
  end

  defp launch(first, next, operations) do
    parent = self()
    Enum.each(first..(next - 1), fn number -> spawn(fn -> send(parent, {:result, number}) end) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{next - first} tasks at once: the process limit (+P) is reached")
      IO.puts("done #{first}\nfailed #{operations - first}")
      System.halt(1)
  end

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:result, number} -> collect(left - 1, sum + number)
    end
  end
end
