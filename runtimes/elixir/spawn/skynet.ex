# One process per node of a tree, made by spawn, and a message to its parent with its sum.
defmodule Skynet do
  def main(args) do
    case numbers(args) do
      {:ok, tasks, operations} ->
        Process.register(self(), __MODULE__)
        IO.puts("ready")
        sum = trees(0, tasks, operations, 0)
        IO.puts("done #{operations}\ncheck #{sum}")

      :error ->
        IO.puts(
          :stderr,
          "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them"
        )

        System.halt(2)
    end
  end

  defp trees(operations, _tasks, operations, sum), do: sum

  defp trees(done, tasks, operations, sum) do
    launch(0, tasks)

    receive do
      {:sum, tree} ->
        trees(done + tasks, tasks, operations, sum + tree)

      :refused ->
        IO.puts(
          :stderr,
          "cannot start a tree of #{tasks} tasks: the process limit is reached (+P)"
        )

        IO.puts("done #{done}\nfailed #{operations - done}")
        System.halt(1)
    end
  end

  defp launch(first, leaves) do
    parent = self()
    spawn(fn -> task(parent, first, leaves) end)
  rescue
    SystemLimitError -> send(__MODULE__, :refused)
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

  defp numbers([tasks, operations]) do
    with {tasks, ""} when tasks >= 1 <- Integer.parse(tasks),
         {operations, ""} when operations >= 1 <- Integer.parse(operations),
         true <- power_of_ten?(tasks) and rem(operations, tasks) == 0 do
      {:ok, tasks, operations}
    else
      _ -> :error
    end
  end

  defp numbers(_), do: :error

  defp power_of_ten?(1), do: true
  defp power_of_ten?(number), do: rem(number, 10) == 0 and power_of_ten?(div(number, 10))
end
