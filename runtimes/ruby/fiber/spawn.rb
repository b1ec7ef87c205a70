# One fiber per operation, made and waited for, in the reactor of the async gem.

require 'async'

class Spawn
  def initialize(tasks, operations)
    @tasks = tasks
    @operations = operations
    @sum = @done = @started = 0
  end

  def run
    puts 'ready'
    Async do |main|
      (0...@operations).each_slice(@tasks) { |numbers| round(main, numbers) }
    rescue FiberError, NoMemoryError => e
      give_up(e)
    end
    puts "done #{@operations}", "check #{@sum}"
  end

  private

  def round(main, numbers)
    @started = 0
    running = numbers.map do |number|
      main.async do |task|
        @started += 1
        task.yield # a task runs at once, and would be over before the next is started
        number
      end
    end
    @sum += running.sum(&:wait)
    @done += numbers.size
  end

  def give_up(error)
    warn "cannot start task #{@started + 1} of #{@tasks}: #{error.message}"
    puts "done #{@done}", "failed #{@tasks - @started}"
    exit!(1)
  end
end

tasks, operations = ARGV.map { |word| Integer(word, 10, exception: false) }
unless ARGV.size == 2 && tasks&.positive? && operations&.positive?
  warn 'usage: spawn.rb <tasks> <operations>: whole numbers, at least one of each'
  exit 2
end
$stdout.sync = true
Spawn.new(tasks, operations).run
