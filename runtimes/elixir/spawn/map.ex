# One process per task, made by spawn, all of which share a table of ETS.
defmodule SharedMap do
  @filled 65_536
  @modulus 4_294_967_296

  def main(args) do
    case numbers(args) do
      [tasks, operations]
      when is_integer(tasks) and tasks >= 1 and is_integer(operations) and operations >= 1 ->
        map = :ets.new(__MODULE__, [:set, :public, write_concurrency: :auto])
        Enum.each(0..(@filled - 1), &:ets.insert(map, {key(&1), &1}))
        IO.puts("ready")
        Enum.each(0..(tasks - 1), &launch(&1, tasks, operations, map))
        sum = collect(tasks, 0)
        IO.puts("done #{operations}\ncheck #{sum + :ets.info(map, :size)}")

      _ ->
        IO.puts(:stderr, "usage: map <tasks> <operations>: whole numbers, at least one of each")
        System.halt(2)
    end
  end

  defp launch(number, tasks, operations, map) do
    parent = self()
    first = div(number * operations, tasks)
    next = div((number + 1) * operations, tasks)
    spawn(fn -> send(parent, {:result, task(map, first, next, 0)}) end)
  rescue
    SystemLimitError ->
      IO.puts(
        :stderr,
        "cannot start task #{number + 1} of #{tasks}: the process limit is reached (+P)"
      )

      IO.puts("failed #{operations - div(number * operations, tasks)}")
      System.halt(1)
  end

  defp task(_map, next, next, sum), do: sum

  defp task(map, j, next, sum) do
    i = @filled + j
    :ets.insert(map, {key(i), i})
    task(map, j + 1, next, sum + :ets.lookup_element(map, key(rem(j, @filled)), 2))
  end

  defp key(i), do: rem(i * 2_654_435_761, @modulus)

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:result, result} -> collect(left - 1, sum + result)
    end
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
