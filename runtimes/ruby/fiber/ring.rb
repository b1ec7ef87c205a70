# A ring of tasks of the async gem: each takes tokens from its own queue and puts them into the next task's.
# A token is the number of hops that it has left.

require 'async'

def run(tasks, operations, tokens)
  queues = Array.new(tasks) { Thread::SizedQueue.new(1) } # the fiber scheduler makes these wait without blocking
  results = Thread::Queue.new
  Async do |reactor|
    running = launch(reactor, queues, results)
    puts 'ready'
    tokens.times do |token|
      extra = token < operations % tokens ? 1 : 0
      queues[token * tasks / tokens] << operations / tokens + extra
    end
    sum = Array.new(tokens) { results.pop }.sum
    puts "done #{operations}", "check #{sum}"
    running.each(&:stop)
  end
end

def launch(reactor, queues, results)
  started = 0
  queues.zip(queues.rotate).map.with_index do |(queue, next_queue), number|
    reactor.async do
      started += 1
      puts "alive #{started}" if started == queues.size
      loop do
        hops = queue.pop
        hops.positive? ? next_queue << (hops - 1) : results << number
      end
    end
  end
rescue FiberError, NoMemoryError => e
  warn "cannot start task #{started + 1} of #{queues.size}: #{e.message}"
  puts "failed #{queues.size - started}"
  exit! 1
end

$stdout.sync = true
tasks, operations, _, tokens = ARGV
run(Integer(tasks), Integer(operations), Integer(tokens || 1))
