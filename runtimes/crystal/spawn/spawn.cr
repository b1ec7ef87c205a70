# One fiber per operation, made by spawn, with a message back for its result.

lib LibGC
  fun set_oom_fn = GC_set_oom_fn(callback : LibC::SizeT -> Void*)
end

module Spawn
  @@tasks = 0_i64
  @@launched = 0_i64
  @@done = 0_i64
  @@results = Channel(Int64).new

  def self.run(tasks, operations)
    @@tasks = tasks
    # The system may refuse memory to the collector first, of which Crystal makes no exception.
    LibGC.set_oom_fn ->(bytes : LibC::SizeT) { give_up "no memory for #{bytes} bytes"; Pointer(Void).null }
    puts "ready"
    sum = 0_i64
    while @@done < operations
      round = {tasks, operations - @@done}.min
      begin
        @@launched = 0
        round.times do
          spawn task(@@done + @@launched)
          @@launched += 1
        end
      rescue error : RuntimeError
        give_up error.message
      end
      round.times { sum += @@results.receive }
      @@done += round
    end
    puts "done #{operations}", "check #{sum}"
  end

  private def self.task(number)
    @@results.send number
  end

  private def self.give_up(reason)
    STDERR.puts "cannot start task #{@@launched + 1} of #{@@tasks}: #{reason}"
    puts "done #{@@done}", "failed #{@@tasks - @@launched}"
    exit 1
  end
end

tasks, operations = {ARGV[0]?, ARGV[1]?}.map { |word| word.try &.to_i64? }
unless ARGV.size == 2 && tasks && tasks >= 1 && operations && operations >= 1
  STDERR.puts "usage: spawn <tasks> <operations>: whole numbers, at least one of each"
  exit 2
end
STDOUT.sync = true
Spawn.run(tasks, operations)
