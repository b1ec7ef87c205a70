# One fiber per task, in the reactor of the async gem.

require 'async'

class Sleep
  def initialize(tasks, seconds)
    @tasks = tasks
    @seconds = seconds
    @started = @finished = 0
  end

  def run
    Async do |main|
      running = Array.new(@tasks) { main.async { wait_once } }
      running.each(&:wait)
    rescue FiberError, NoMemoryError => e
      give_up(e)
    end
    puts "done #{@finished}"
  end

  private

  def wait_once
    @started += 1
    puts "alive #{@started - @finished}" if @started == @tasks
    sleep(@seconds)
    @finished += 1
  end

  def give_up(error)
    warn "cannot start task #{@started + 1} of #{@tasks}: #{error.message}"
    puts "done #{@finished}", "failed #{@tasks - @started}"
    exit!(1)
  end
end

tasks, seconds = ARGV.map { |word| Integer(word, 10, exception: false) }
unless ARGV.size == 2 && tasks&.positive? && seconds && seconds >= 0
  warn 'usage: sleep.rb <tasks> <seconds>: whole numbers, at least one task'
  exit 2
end
$stdout.sync = true
Sleep.new(tasks, seconds).run
