# One task of the async gem per task, each waiting for a condition of its own.

require 'async'
require 'async/condition'

def run(tasks, seconds)
  wake_at = now + seconds
  started = finished = 0
  Async do |reactor|
    conditions = Array.new(tasks) { Async::Condition.new }
    running = conditions.map do |condition|
      reactor.async do
        started += 1
        puts "alive #{started - finished}" if started == tasks
        condition.wait
        finished += 1
      end
    end
    sleep [wake_at - now, 0].max
    conditions.each(&:signal)
    running.each(&:wait)
  rescue FiberError, NoMemoryError => e
    warn "cannot start task #{started + 1} of #{tasks}: #{e.message}"
    puts "done #{finished}", "failed #{tasks - started}"
    exit! 1
  end
  puts "done #{finished}"
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
