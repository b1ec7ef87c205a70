# One OS thread per task.

def run(tasks, seconds)
  started = finished = 0
  lock = Mutex.new # += is not atomic
  threads = []
  begin
    tasks.times do
      threads << Thread.new do
        lock.synchronize do
          started += 1
          puts "alive #{started - finished}" if started == tasks
        end
        sleep seconds
        lock.synchronize { finished += 1 }
      end
    end
  rescue ThreadError, NoMemoryError => e
    warn "cannot start task #{threads.size + 1} of #{tasks}: #{e.message}"
    puts "done #{finished}", "failed #{tasks - threads.size}"
    exit! 1
  end
  threads.each(&:join)
  puts "done #{finished}"
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
