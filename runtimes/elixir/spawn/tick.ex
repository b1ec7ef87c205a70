# One process per task, created by spawn, which wakes once in every period.
defmodule Tick do
  import Bitwise

  @started 1
  @finished 2
  @buckets 32

  def main(args) do
    names = [period_ms: :integer, hogs: :integer, hog_ms: :integer]
    {options, numbers} = OptionParser.parse!(args, strict: names)
    [tasks, seconds] = Enum.map(numbers, &String.to_integer/1)
    period = 1_000 * Keyword.get(options, :period_ms, 1000)
    hogs = Keyword.get(options, :hogs, 0)
    hog = 1_000 * Keyword.get(options, :hog_ms, 10)
    start = now()
    # Persistent terms are not copied: they add nothing to a process.
    :persistent_term.put(__MODULE__, {tasks, :atomics.new(2, []), :counters.new(@buckets, [])})
    :persistent_term.put(:times, {start, start + seconds * 1_000_000, period, hog})
    Enum.each(0..(tasks - 1), &launch(&1, tasks))
    parent = self()
    for _ <- 1..hogs//1, do: spawn(fn -> compute(parent) end)
    collect(tasks + hogs)
    {_tasks, _counters, late} = :persistent_term.get(__MODULE__)
    counts = Enum.map_join(1..@buckets, " ", &:counters.get(late, &1))
    IO.puts("done #{finished()}\nhistogram late_us #{counts}")
  end

  defp launch(number, tasks) do
    parent = self()
    spawn(fn -> task(parent, number) end)
  rescue
    SystemLimitError ->
      IO.puts(:stderr, "cannot start #{tasks - number} tasks: the process limit (+P) is reached")
      IO.puts("failed #{tasks - number}")
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
    {start, stop, period, _hog} = :persistent_term.get(:times)
    due = next_due(start + div(period * number, tasks), period, now())

    if :atomics.add_get(counters, @started, 1) == tasks do
      IO.puts("alive #{tasks - finished()}")
    end

    beat(due, stop, period)
    sleep_until(stop)
    :atomics.add(counters, @finished, 1)
    send(parent, :done)
  end

  defp next_due(due, period, now) when due < now, do: next_due(due + period, period, now)
  defp next_due(due, _period, _now), do: due

  defp beat(due, stop, period) when due < stop do
    sleep_until(due)
    now = now()

    if now < stop do
      count(now - due)
      beat(due + period, stop, period)
    end
  end

  defp beat(_due, _stop, _period), do: :ok

  # Timers count whole milliseconds.
  defp sleep_until(instant) do
    left = instant - now()
    if left > 0, do: Process.sleep(div(left + 999, 1_000))
  end

  # Bucket b counts ticks that were less than 2^b µs late, and at least half of that.
  defp count(us) do
    {tasks, counters, late} = :persistent_term.get(__MODULE__)

    if :atomics.get(counters, @started) == tasks do
      :counters.add(late, min(bits(us), @buckets - 1) + 1, 1)
    end
  end

  defp bits(0), do: 0
  defp bits(us), do: 1 + bits(us >>> 1)

  defp compute(parent) do
    {_start, stop, _period, hog} = :persistent_term.get(:times)

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
end
