# One fiber per node of a tree, made by spawn, with a channel for the sums of its ten children.

lib LibGC
  fun set_oom_fn = GC_set_oom_fn(callback : LibC::SizeT -> Void*)
end

module Skynet
  @@tasks = 0_i64
  @@launched = 0_i64
  @@done = 0_i64

  def self.run(tasks, operations)
    @@tasks = tasks
    # The system may refuse memory to the collector first, of which Crystal makes no exception.
    LibGC.set_oom_fn ->(bytes : LibC::SizeT) { give_up "no memory for #{bytes} bytes"; Pointer(Void).null }
    puts "ready"
    sum = 0_i64
    results = Channel(Int64).new
    while @@done < operations
      @@launched = 0
      launch(0_i64, tasks, results)
      sum += results.receive
      @@done += tasks
    end
    puts "done #{operations}", "check #{sum}"
  end

  # Starts the node of so many leaves from a number on.
  private def self.launch(first, leaves, parent)
    spawn node(first, leaves, parent)
    @@launched += 1
  rescue error : RuntimeError
    give_up error.message
  end

  private def self.node(first, leaves, parent)
    if leaves == 1
      parent.send first
      return
    end
    share = leaves // 10
    sums = Channel(Int64).new
    10.times { |i| launch(first + i * share, share, sums) }
    sum = 0_i64
    10.times { sum += sums.receive }
    parent.send sum
  end

  private def self.give_up(reason)
    STDERR.puts "cannot start task #{@@launched + 1} of a tree of #{@@tasks} leaves: #{reason}"
    puts "done #{@@done}", "failed #{{@@tasks - @@launched, 1_i64}.max}"
    exit 1
  end
end

tasks, operations = {ARGV[0]?, ARGV[1]?}.map { |word| word.try &.to_i64? }
power_of_ten = ARGV[0]?.try &.matches?(/\A10*\z/)
unless ARGV.size == 2 && power_of_ten && tasks && operations && operations >= 1 && operations % tasks == 0
  STDERR.puts "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them"
  exit 2
end
STDOUT.sync = true
Skynet.run(tasks, operations)
