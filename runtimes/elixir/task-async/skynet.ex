# One Task per node of a tree, which awaits its ten children.
defmodule Skynet do
  def main(args) do
    [tasks, operations] = Enum.map(args, &String.to_integer/1)
    IO.puts("ready")
    sum = trees(div(operations, tasks), tasks, 0)
    IO.puts("done #{operations}\ncheck #{sum}")
  end

  defp trees(0, _tasks, sum), do: sum

  defp trees(left, tasks, sum) do
    trees(left - 1, tasks, sum + Task.await(launch(0, tasks), :infinity))
  end

  defp launch(first, leaves) do
    Task.async(fn -> task(first, leaves) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start a task: the process limit (+P) is reached")
      System.halt(1)
  end

  defp task(first, 1), do: first

  defp task(first, leaves) do
    size = div(leaves, 10)

    0..9
    |> Enum.map(&launch(first + &1 * size, size))
    |> Task.await_many(:infinity)
    |> Enum.sum()
  end
end
