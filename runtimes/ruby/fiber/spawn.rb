# One task of the async gem per operation, which is a fiber, waited for to get its result.

require 'async'

def run(tasks, operations)
  puts 'ready'
  sum = done = started = 0
  Async do |reactor|
    (0...operations).each_slice(tasks) do |numbers|
      started = 0
      running = numbers.map do |number|
        reactor.async do |task|
          started += 1
          task.yield # a new task runs at once: without this, only one would be alive at a time
          number
        end
      end
      sum += running.sum(&:wait)
      done += numbers.size
    end
  rescue FiberError, NoMemoryError => e
    warn "cannot start task #{started + 1} of #{tasks}: #{e.message}"
    puts "done #{done}", "failed #{tasks - started}"
    exit! 1
  end
  puts "done #{operations}", "check #{sum}"
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
