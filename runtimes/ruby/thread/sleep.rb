# One thread of the operating system per task.

class Sleep
  def initialize(tasks, seconds)
    @tasks = tasks
    @seconds = seconds
    @started = @finished = 0
    @lock = Mutex.new # += is not atomic
  end

  def run
    threads = []
    begin
      @tasks.times { threads << Thread.new { wait_once } }
    rescue ThreadError, NoMemoryError => e
      give_up(threads.size, e)
    end
    threads.each(&:join)
    puts "done #{@finished}"
  end

  private

  def wait_once
    @lock.synchronize do
      @started += 1
      puts "alive #{@started - @finished}" if @started == @tasks
    end
    sleep(@seconds)
    @lock.synchronize { @finished += 1 }
  end

  def give_up(launched, error)
    warn "cannot start task #{launched + 1} of #{@tasks}: #{error.message}"
    puts "done #{@finished}", "failed #{@tasks - launched}"
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
