# One process per task, created by spawn. All of them share an ETS table.
defmodule SharedMap do
  @filled 65_536
  @modulus 4_294_967_296

  def main(args) do
    [tasks, operations] = Enum.map(args, &String.to_integer/1)
    map = :ets.new(__MODULE__, [:set, :public, write_concurrency: :auto])
    Enum.each(0..(@filled - 1), &:ets.insert(map, {key(&1), &1}))
    IO.puts("ready")
    Enum.each(0..(tasks - 1), &launch(&1, tasks, operations, map))
    sum = collect(tasks, 0)
    IO.puts("done #{operations}\ncheck #{sum + :ets.info(map, :size)}")
  end

  defp launch(number, tasks, operations, map) do
    parent = self()
    first = div(number * operations, tasks)
    next = div((number + 1) * operations, tasks)
    spawn(fn -> send(parent, {:result, task(map, first, next, 0)}) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{tasks - number} tasks: the process limit (+P) is reached")
      IO.puts("failed #{operations - div(number * operations, tasks)}")
      System.halt(1)
  end

  defp task(_map, next, next, sum), do: sum

  defp task(map, operation, next, sum) do
    added = @filled + operation
    :ets.insert(map, {key(added), added})
    read = :ets.lookup_element(map, key(rem(operation, @filled)), 2)
    task(map, operation + 1, next, sum + read)
  end

  defp key(i), do: rem(i * 2_654_435_761, @modulus)

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:result, result} -> collect(left - 1, sum + result)
    end
  end
end
