# One process per task, made by spawn, each a heartbeat: it wakes once in every period.
defmodule Tick do
  import Bitwise

  @started 1
  @finished 2
  @buckets 32
  @longest_wait 4_294_967

  def main(args) do
    case arguments(args) do
      {:ok, tasks, seconds, period, hogs, hog} ->
        start = now()
        # Persistent terms, so that the proof adds nothing to what a task holds.
        :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, []), :counters.new(@buckets, [])})
        :persistent_term.put(:times, {start, start + seconds * 1_000_000, period, hog})
        Enum.each(0..(tasks - 1), &launch(&1, tasks))
        parent = self()
        for _ <- 1..hogs//1, do: spawn(fn -> compute(parent) end)
        collect(tasks + hogs)
        {_tasks, _counters, late} = :persistent_term.get(__MODULE__)
        counts = Enum.map_join(1..@buckets, " ", &:counters.get(late, &1))
        IO.puts("done #{finished()}\nhistogram late_us #{counts}")

      :error ->
        IO.puts(
          :stderr,
          "usage: tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: whole numbers, at least one task and millisecond"
        )

        System.halt(2)
    end
  end

  defp launch(number, tasks) do
    parent = self()
    spawn(fn -> task(parent, number) end)
  rescue
    SystemLimitError ->
      IO.puts(
        :stderr,
        "cannot start task #{number + 1} of #{tasks}: the process limit is reached (+P)"
      )

      IO.puts("done #{finished()}\nfailed #{tasks - number}")
      System.halt(1)
  end

  defp collect(0), do: :ok

  defp collect(left) do
    receive do
      :done -> collect(left - 1)
    end
  end

  defp task(parent, number) do
    {tasks, counters, _late} = :persistent_term.get(__MODULE__)
    {begin, stop, period, _hog} = :persistent_term.get(:times)
    due = to_come(begin + div(period * number, tasks), period, now())

    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end

    beat(due, stop, period)
    sleep_until(stop)
    :atomics.add(counters, @finished, 1)
    send(parent, :done)
  end

  defp to_come(due, period, now) when due < now, do: to_come(due + period, period, now)
  defp to_come(due, _period, _now), do: due

  defp beat(due, stop, period) when due < stop do
    sleep_until(due)
    now = now()

    if now < stop do
      count(now - due)
      beat(due + period, stop, period)
    end
  end

  defp beat(_due, _stop, _period), do: :ok

  # A timer is of whole milliseconds.
  defp sleep_until(instant) do
    case instant - now() do
      left when left > 0 -> Process.sleep(div(left + 999, 1_000))
      _ -> :ok
    end
  end

  # Bucket b: ticks that were late by less than 2^b µs, and not less than half of that.
  defp count(us) do
    {tasks, counters, late} = :persistent_term.get(__MODULE__)

    if :atomics.get(counters, @started) == tasks do
      :counters.add(late, min(bits(us, 0), @buckets - 1) + 1, 1)
    end
  end

  defp bits(us, bits) when us > 0, do: bits(us >>> 1, bits + 1)
  defp bits(_us, bits), do: bits

  # Computes, yields, and so on.
  defp compute(parent) do
    {_begin, stop, _period, hog} = :persistent_term.get(:times)

    if now() < stop do
      spin(now() + hog)
      :erlang.yield()
      compute(parent)
    else
      send(parent, :done)
    end
  end

  defp spin(until), do: if(now() < until, do: spin(until), else: :ok)

  defp now, do: System.monotonic_time(:microsecond)

  defp finished do
    {_tasks, counters, _late} = :persistent_term.get(__MODULE__)
    :atomics.get(counters, @finished)
  end

  defp arguments([tasks, seconds | options]) do
    names = [period_ms: :integer, hogs: :integer, hog_ms: :integer]

    with {tasks, ""} when tasks >= 1 <- Integer.parse(tasks),
         {seconds, ""} when seconds in 0..@longest_wait <- Integer.parse(seconds),
         {given, [], []} <- OptionParser.parse(options, strict: names),
         period when period >= 1 <- Keyword.get(given, :period_ms, 1000),
         hogs when hogs >= 0 <- Keyword.get(given, :hogs, 0),
         hog when hog >= 1 <- Keyword.get(given, :hog_ms, 10) do
      {:ok, tasks, seconds, period * 1_000, hogs, hog * 1_000}
    else
      _ -> :error
    end
  end

  defp arguments(_), do: :error
end
