# One fiber per task, made by spawn; a channel tells the main fiber of each end.

lib LibGC
  fun set_oom_fn = GC_set_oom_fn(callback : LibC::SizeT -> Void*)
end

module Sleep
  @@tasks = 0
  @@launched = 0
  @@started = 0
  @@finished = 0
  @@ends = Channel(Nil).new

  def self.run(tasks, wait)
    @@tasks = tasks
    # The system may refuse memory to the collector first, of which Crystal makes no exception.
    LibGC.set_oom_fn ->(bytes : LibC::SizeT) { give_up "no memory for #{bytes} bytes"; Pointer(Void).null }
    begin
      tasks.times do
        spawn task(wait)
        @@launched += 1
      end
    rescue error : RuntimeError
      give_up error.message
    end
    tasks.times { @@ends.receive }
    puts "done #{@@finished}"
  end

  private def self.task(wait)
    @@started += 1
    puts "alive #{@@started - @@finished}" if @@started == @@tasks
    sleep wait
    @@finished += 1
    @@ends.send nil
  end

  private def self.give_up(reason)
    STDERR.puts "cannot start task #{@@launched + 1} of #{@@tasks}: #{reason}"
    puts "done #{@@finished}", "failed #{@@tasks - @@launched}"
    exit 1
  end
end

tasks, seconds = {ARGV[0]?, ARGV[1]?}.map { |word| word.try &.to_i? }
unless ARGV.size == 2 && tasks && tasks >= 1 && seconds && seconds >= 0
  STDERR.puts "usage: sleep <tasks> <seconds>: whole numbers, at least one task"
  exit 2
end
STDOUT.sync = true
Sleep.run(tasks, seconds.seconds)
