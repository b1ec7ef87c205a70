# One Task per operation, awaited for its result.
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
    results = first..(next - 1) |> launch(operations) |> Task.await_many(:infinity)
    rounds(next, tasks, operations, sum + Enum.sum(results))
  end

  defp launch(first..last = numbers, operations) do
    Enum.map(numbers, fn number -> Task.async(fn -> number end) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{last - first + 1} tasks at once: the process limit (+P) is reached")
      IO.puts("done #{first}\nfailed #{operations - first}")
      System.halt(1)
  end
end
