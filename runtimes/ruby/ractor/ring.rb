# One ractor per place in a ring, each of which takes tokens from its own port. The first message tells it who is next.

def run(tasks, operations, tokens)
  ring = launch(tasks)
  ring.zip(ring.rotate) { |ractor, following| ractor << following }
  tasks.times { Ractor.receive }
  puts "alive #{tasks}", 'ready'

  # The first tokens make one hop more, where the operations cannot be shared evenly.
  tokens.times { |token| ring[token * tasks / tokens] << (operations + tokens - 1 - token) / tokens }
  sum = Array.new(tokens) { Ractor.receive }.sum
  puts "done #{operations}", "check #{sum}" # the ractors end with the program
end

def launch(tasks)
  ractors = []
  tasks.times do |place|
    ractors << Ractor.new(Ractor.current, place) do |main, number|
      following = Ractor.receive
      main << :started
      loop do
        hops = Ractor.receive # a token is the number of hops that it has left
        hops.positive? ? following << (hops - 1) : main << number
      end
    end
  end
  ractors
rescue ThreadError, NoMemoryError => e
  warn "cannot start task #{ractors.size + 1} of #{tasks}: #{e.message}"
  puts "failed #{tasks - ractors.size}"
  exit!(1)
end

words = ARGV.size == 4 && ARGV[2] == '--tokens' ? ARGV.values_at(0, 1, 3) : [*ARGV, '1']
tasks, operations, tokens = words.map { |word| Integer(word, 10, exception: false) }
unless words.size == 3 && tasks && operations&.positive? && tokens&.positive? && tokens <= tasks / 2
  warn 'usage: ring.rb <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token'
  exit 2
end
$stdout.sync = true
run(tasks, operations, tokens)
