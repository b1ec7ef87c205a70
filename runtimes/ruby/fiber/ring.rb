# One fiber per place in a ring, in the reactor of the async gem, each with a queue of one from which it takes tokens.

require 'async'

class Ring
  def initialize(tasks, operations, tokens)
    @tasks = tasks
    @operations = operations
    @tokens = tokens
    @started = 0
  end

  def run
    queues = Array.new(@tasks) { Thread::SizedQueue.new(1) } # the reactor lets a fiber wait for these, too
    noted = Thread::Queue.new
    Async do |main|
      running = launch(main, queues, noted)
      puts 'ready'
      @tokens.times { |token| queues[token * @tasks / @tokens] << hops_of(token) }
      sum = Array.new(@tokens) { noted.pop }.sum
      puts "done #{@operations}", "check #{sum}"
      running.each(&:stop)
    end
  end

  private

  def launch(main, queues, noted)
    queues.zip(queues.rotate).each_with_index.map do |(own, following), number|
      main.async { pass(own, following, number, noted) }
    end
  rescue FiberError, NoMemoryError => e
    give_up(e)
  end

  # A token is the number of hops that it has left.
  def pass(own, following, number, noted)
    @started += 1
    puts "alive #{@tasks}" if @started == @tasks
    loop do
      hops = own.pop
      hops.positive? ? following << (hops - 1) : noted << number
    end
  end

  # The first tokens make one hop more, where the operations cannot be shared evenly.
  def hops_of(token)
    (@operations + @tokens - 1 - token) / @tokens
  end

  def give_up(error)
    warn "cannot start task #{@started + 1} of #{@tasks}: #{error.message}"
    puts "failed #{@tasks - @started}"
    exit!(1)
  end
end

words = ARGV.size == 4 && ARGV[2] == '--tokens' ? ARGV.values_at(0, 1, 3) : [*ARGV, '1']
tasks, operations, tokens = words.map { |word| Integer(word, 10, exception: false) }
unless words.size == 3 && tasks && operations&.positive? && tokens&.positive? && tokens <= tasks / 2
  warn 'usage: ring.rb <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token'
  exit 2
end
$stdout.sync = true
Ring.new(tasks, operations, tokens).run
