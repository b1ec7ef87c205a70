# One process per node of a tree, created by spawn, which sends its sum to its parent.
defmodule Skynet do
  def main(args) do
    [tasks, operations] = Enum.map(args, &String.to_integer/1)
    Process.register(self(), __MODULE__)
    IO.puts("ready")
    sum = trees(0, tasks, operations, 0)
    IO.puts("done #{operations}\ncheck #{sum}")
  end

  defp trees(operations, _tasks, operations, sum), do: sum

  defp trees(done, tasks, operations, sum) do
    launch(0, tasks)

    receive do
      {:sum, tree} ->
        trees(done + tasks, tasks, operations, sum + tree)

      :system_limit ->
        IO.puts(:stderr, "cannot start a tree of #{tasks} tasks: the process limit (+P) is reached")
        IO.puts("done #{done}\nfailed #{operations - done}")
        System.halt(1)
    end
  end

  defp launch(first, leaves) do
    parent = self()
    spawn(fn -> task(parent, first, leaves) end)
  rescue
    SystemLimitError -> send(__MODULE__, :system_limit)
  end

  defp task(parent, first, 1), do: send(parent, {:sum, first})

  defp task(parent, first, leaves) do
    size = div(leaves, 10)
    Enum.each(0..9, &launch(first + &1 * size, size))
    send(parent, {:sum, collect(10, 0)})
  end

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:sum, child} -> collect(left - 1, sum + child)
    end
  end
end
