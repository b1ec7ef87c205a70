# A ring of OS threads: each takes tokens from its own queue and puts them into the next thread's.
# A token is the number of hops that it has left.

def run(tasks, operations, tokens)
  queues = Array.new(tasks) { SizedQueue.new(1) }
  all_started = Queue.new
  results = Queue.new
  threads = launch(queues, all_started, results)
  all_started.pop
  puts 'ready'

  tokens.times do |token|
    extra = token < operations % tokens ? 1 : 0
    queues[token * tasks / tokens] << operations / tokens + extra
  end
  sum = Array.new(tokens) { results.pop }.sum
  puts "done #{operations}", "check #{sum}"
  queues.each(&:close)
  threads.each(&:join)
end

def launch(queues, all_started, results)
  started = 0
  lock = Mutex.new # += is not atomic
  threads = []
  queues.zip(queues.rotate).each_with_index do |(queue, next_queue), number|
    threads << Thread.new do
      lock.synchronize do
        started += 1
        if started == queues.size
          puts "alive #{started}"
          all_started << true
        end
      end
      while (hops = queue.pop) # nil when the queue is closed
        hops.positive? ? next_queue << (hops - 1) : results << number
      end
    end
  end
  threads
rescue ThreadError, NoMemoryError => e
  warn "cannot start task #{threads.size + 1} of #{queues.size}: #{e.message}"
  puts "failed #{queues.size - threads.size}"
  exit! 1
end

$stdout.sync = true
tasks, operations, _, tokens = ARGV
run(Integer(tasks), Integer(operations), Integer(tokens || 1))
