# One fiber per place in a ring, made by spawn, each with a channel of one from which it takes tokens.

def run(tasks, operations, tokens)
  channels = Array.new(tasks) { Channel(Int64).new(1) }
  noted = Channel(Int64).new
  all_started = Channel(Nil).new
  started = 0
  tasks.times do |number|
    own = channels[number]
    following = channels[(number + 1) % tasks]
    spawn do
      started += 1
      if started == tasks
        puts "alive #{tasks}"
        all_started.send nil
      end
      while hops = own.receive? # a token is the number of hops that it has left
        hops > 0 ? following.send(hops - 1) : noted.send(number)
      end
    end
  rescue error : RuntimeError
    STDERR.puts "cannot start task #{number + 1} of #{tasks}: #{error.message}"
    puts "failed #{tasks - number}"
    exit 1
  end
  all_started.receive
  puts "ready"

  # The first tokens make one hop more, where the operations cannot be shared evenly.
  tokens.times { |token| channels[token * tasks // tokens].send (operations + tokens - 1 - token) // tokens }
  sum = 0_i64
  tokens.times { sum += noted.receive }
  puts "done #{operations}", "check #{sum}" # the fibers end with the program
end

words = ARGV.size == 4 && ARGV[2] == "--tokens" ? ARGV.values_at(0, 1, 3).to_a : ARGV + ["1"]
tasks, operations, tokens = {words[0]?, words[1]?, words[2]?}.map { |word| word.try &.to_i64? }
unless words.size == 3 && tasks && operations && operations >= 1 && tokens && tokens >= 1 && tokens <= tasks // 2
  abort "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token", 2
end
STDOUT.sync = true
run(tasks, operations, tokens)
