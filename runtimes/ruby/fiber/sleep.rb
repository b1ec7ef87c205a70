# One task of the async gem per task, which is a fiber.

require 'async'

def run(tasks, seconds)
  started = finished = 0
  Async do |reactor|
    running = Array.new(tasks) do
      reactor.async do
        started += 1
        puts "alive #{started - finished}" if started == tasks
        sleep seconds
        finished += 1
      end
    end
    running.each(&:wait)
  rescue FiberError, NoMemoryError => e
    warn "cannot start task #{started + 1} of #{tasks}: #{e.message}"
    puts "done #{finished}", "failed #{tasks - started}"
    exit! 1
  end
  puts "done #{finished}"
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
