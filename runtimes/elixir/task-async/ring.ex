# One Task per task, which passes the tokens in its mailbox to the next Task.
defmodule Ring do
  def main(args) do
    {options, numbers} = OptionParser.parse!(args, strict: [tokens: :integer])
    [tasks, operations] = Enum.map(numbers, &String.to_integer/1)
    tokens = Keyword.get(options, :tokens, 1)
    # A persistent term is not copied: the counter adds nothing to a process.
    :persistent_term.put(__MODULE__, {tasks, :atomics.new(1, [])})
    pids = Enum.map(0..(tasks - 1), &launch(&1, tasks).pid)
    connect(pids)

    receive do
      :alive -> IO.puts("ready")
    end

    send_tokens(List.to_tuple(pids), operations, tokens)
    sum = collect(tokens, 0)
    IO.puts("done #{operations}\ncheck #{sum}")
  end

  defp launch(number, tasks) do
    main = self()
    Task.async(fn -> task(number, main) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{tasks - number} tasks: the process limit (+P) is reached")
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
      {:arrived, number} -> collect(left - 1, sum + number)
    end
  end

  defp task(number, main) do
    receive do
      {:next, next} ->
        count_in(main)
        pass(number, next, main)
    end
  end

  # A token is the number of hops that it has left.
  defp pass(number, next, main) do
    receive do
      0 -> send(main, {:arrived, number})
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
end
