# A ring of processes, made by spawn, each of which waits for tokens in its mailbox.
defmodule Ring do
  def main(args) do
    case numbers(args) do
      {:ok, tasks, operations, tokens} ->
        # A persistent term, so that proving the tasks alive adds nothing to what a task holds.
        :persistent_term.put(__MODULE__, {tasks, :atomics.new(1, [])})
        pids = Enum.map(0..(tasks - 1), &launch(&1, tasks))
        connect(pids)

        receive do
          :alive -> IO.puts("ready")
        end

        send_tokens(List.to_tuple(pids), operations, tokens)
        sum = collect(tokens, 0)
        IO.puts("done #{operations}\ncheck #{sum}")

      :error ->
        IO.puts(
          :stderr,
          "usage: ring <tasks> <operations> [--tokens <tokens>]: at least two tasks, and two for each token"
        )

        System.halt(2)
    end
  end

  defp launch(number, tasks) do
    main = self()
    spawn(fn -> task(number, main) end)
  rescue
    SystemLimitError ->
      IO.puts(
        :stderr,
        "cannot start task #{number + 1} of #{tasks}: the process limit is reached (+P)"
      )

      IO.puts("failed #{tasks - number}")
      System.halt(1)
  end

  defp connect([first | rest] = pids) do
    Enum.zip_with(pids, rest ++ [first], fn pid, next -> send(pid, {:next, next}) end)
  end

  defp send_tokens(ring, operations, tokens) do
    for token <- 0..(tokens - 1) do
      hops = div(operations + tokens - 1 - token, tokens)
      send(elem(ring, div(token * tuple_size(ring), tokens)), hops)
    end
  end

  defp collect(0, sum), do: sum

  defp collect(left, sum) do
    receive do
      {:noted, number} -> collect(left - 1, sum + number)
    end
  end

  defp task(number, main) do
    receive do
      {:next, next} ->
        count_in(main)
        pass(number, next, main)
    end
  end

  # A token is the number of its hops that are left.
  defp pass(number, next, main) do
    receive do
      0 -> send(main, {:noted, number})
      hops -> send(next, hops - 1)
    end

    pass(number, next, main)
  end

  defp count_in(main) do
    {tasks, counters} = :persistent_term.get(__MODULE__)

    if :atomics.add_get(counters, 1, 1) == tasks do
      IO.puts("alive #{tasks}")
      send(main, :alive)
    end
  end

  defp numbers([tasks, operations]), do: numbers([tasks, operations, "--tokens", "1"])

  defp numbers([tasks, operations, "--tokens", tokens]) do
    with {tasks, ""} <- Integer.parse(tasks),
         {operations, ""} when operations >= 1 <- Integer.parse(operations),
         {tokens, ""} when tokens >= 1 and tokens <= div(tasks, 2) <- Integer.parse(tokens) do
      {:ok, tasks, operations, tokens}
    else
      _ -> :error
    end
  end

  defp numbers(_), do: :error
end
