# One fiber per task, in the reactor of the async gem, each waiting for one message.

require 'async'
require 'async/condition'

class Park
  def initialize(tasks, seconds)
    @tasks = tasks
    @due = now + seconds
    @started = @finished = 0
  end

  def run
    Async do |main|
      mailboxes = Array.new(@tasks) { Async::Condition.new }
      running = mailboxes.map { |mailbox| main.async { receive(mailbox) } }
      sleep([@due - now, 0].max)
      mailboxes.each(&:signal)
      running.each(&:wait)
    rescue FiberError, NoMemoryError => e
      give_up(e)
    end
    puts "done #{@finished}"
  end

  private

  def receive(mailbox)
    @started += 1
    puts "alive #{@started - @finished}" if @started == @tasks
    mailbox.wait
    @finished += 1
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def give_up(error)
    warn "cannot start task #{@started + 1} of #{@tasks}: #{error.message}"
    puts "done #{@finished}", "failed #{@tasks - @started}"
    exit!(1)
  end
end

tasks, seconds = ARGV.map { |word| Integer(word, 10, exception: false) }
unless ARGV.size == 2 && tasks&.positive? && seconds && seconds >= 0
  warn 'usage: park.rb <tasks> <seconds>: whole numbers, at least one task'
  exit 2
end
$stdout.sync = true
Park.new(tasks, seconds).run
