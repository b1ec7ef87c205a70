# A ring of fibers, each passing tokens from its channel to the next.

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
      while hops = own.receive? # a token is the number of hops left
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

  # The first tokens take the remainder.
  tokens.times { |token| channels[token * tasks // tokens].send (operations + tokens - 1 - token) // tokens }
  sum = 0_i64
  tokens.times { sum += noted.receive }
  puts "done #{operations}", "check #{sum}" # the fibers end with the program
end

tasks, operations = ARGV[0].to_i64, ARGV[1].to_i64
tokens = (ARGV[3]? || "1").to_i64 # after --tokens
STDOUT.sync = true
run(tasks, operations, tokens)
