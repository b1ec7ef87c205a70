# One fiber per place in a ring, made by spawn, each with a channel of one from which it takes tokens.

lib LibGC
  fun set_oom_fn = GC_set_oom_fn(callback : LibC::SizeT -> Void*)
end

module Ring
  @@tasks = 0_i64
  @@launched = 0_i64
  @@started = 0_i64
  @@all_started = Channel(Nil).new
  @@noted = Channel(Int64).new

  def self.run(tasks, operations, tokens)
    @@tasks = tasks
    # The system may refuse memory to the collector first, of which Crystal makes no exception.
    LibGC.set_oom_fn ->(bytes : LibC::SizeT) { give_up "no memory for #{bytes} bytes"; Pointer(Void).null }
    channels = Array.new(tasks) { Channel(Int64).new(1) }
    begin
      tasks.times do |number|
        spawn task(number, channels[number], channels[(number + 1) % tasks])
        @@launched += 1
      end
    rescue error : RuntimeError
      give_up error.message
    end
    @@all_started.receive
    puts "ready"

    # The first tokens make one hop more, where the operations cannot be shared evenly.
    tokens.times { |token| channels[token * tasks // tokens].send (operations + tokens - 1 - token) // tokens }
    sum = 0_i64
    tokens.times { sum += @@noted.receive }
    puts "done #{operations}", "check #{sum}" # the fibers end with the program
  end

  # A token is the number of hops that it has left.
  private def self.task(number, own, following)
    @@started += 1
    if @@started == @@tasks
      puts "alive #{@@tasks}"
      @@all_started.send nil
    end
    loop do
      hops = own.receive
      if hops > 0
        following.send hops - 1
      else
        @@noted.send number
      end
    end
  end

  private def self.give_up(reason)
    STDERR.puts "cannot start task #{@@launched + 1} of #{@@tasks}: #{reason}"
    puts "failed #{@@tasks - @@launched}"
    exit 1
  end
end

words = ARGV.size == 4 && ARGV[2] == "--tokens" ? ARGV.values_at(0, 1, 3).to_a : ARGV + ["1"]
tasks, operations, tokens = {words[0]?, words[1]?, words[2]?}.map { |word| word.try &.to_i64? }
unless words.size == 3 && tasks && operations && operations >= 1 && tokens && tokens >= 1 && tokens <= tasks // 2
  STDERR.puts "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token"
  exit 2
end
STDOUT.sync = true
Ring.run(tasks, operations, tokens)
