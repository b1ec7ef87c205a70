# One Task per operation, awaited for its result. Put your way of running tasks in its place.
defmodule Spawn do
  def main(args) do
    case numbers(args) do
      [tasks, operations]
      when is_integer(tasks) and tasks >= 1 and is_integer(operations) and operations >= 1 ->
        # All is prepared. IO.puts writes at once.
        IO.puts("ready")
        sum = rounds(0, tasks, operations, 0)
        IO.puts("done #{operations}\ncheck #{sum}")

      _ ->
        IO.puts(:stderr, "usage: spawn <tasks> <operations>: whole numbers, at least one of each")
        System.halt(2)
    end
  end

  defp rounds(operations, _tasks, operations, sum), do: sum

  defp rounds(first, tasks, operations, sum) do
    next = min(first + tasks, operations)

    round =
      first..(next - 1)
      |> Enum.map(fn number -> Task.async(fn -> number end) end)
      |> Task.await_many(:infinity)
      |> Enum.sum()

    rounds(next, tasks, operations, sum + round)
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
