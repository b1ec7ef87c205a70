# One OS thread per task, each waiting for one message in a queue of its own.

def run(tasks, seconds)
  wake_at = now + seconds
  started = finished = 0
  lock = Mutex.new # += is not atomic
  queues = Array.new(tasks) { Queue.new }
  threads = []
  begin
    queues.each do |queue|
      threads << Thread.new do
        lock.synchronize do
          started += 1
          puts "alive #{started - finished}" if started == tasks
        end
        queue.pop
        lock.synchronize { finished += 1 }
      end
    end
  rescue ThreadError, NoMemoryError => e
    warn "cannot start task #{threads.size + 1} of #{tasks}: #{e.message}"
    puts "done #{finished}", "failed #{tasks - threads.size}"
    exit! 1
  end
  sleep [wake_at - now, 0].max
  queues.each { |queue| queue << nil }
  threads.each(&:join)
  puts "done #{finished}"
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
