# One fiber per node of a tree, in the reactor of the async gem, each waiting for its ten children.

require 'async'

class Skynet
  def initialize(tasks, operations)
    @tasks = tasks
    @operations = operations
    @sum = @done = @started = 0
  end

  def run
    puts 'ready'
    Async do |main|
      while @done < @operations
        @started = 0
        @sum += main.async { |root| node(root, 0, @tasks) }.wait
        @done += @tasks
      end
    end
    puts "done #{@operations}", "check #{@sum}"
  end

  private

  # The sum of so many leaves from a number on.
  def node(task, first, leaves)
    @started += 1
    if leaves == 1
      task.yield # a task runs at once, and would be over before the next is started
      return first
    end
    share = leaves / 10
    children = Array.new(10) { |i| task.async { |child| node(child, first + i * share, share) } }
    children.sum(&:wait)
  rescue FiberError, NoMemoryError => e
    give_up(e)
  end

  def give_up(error)
    warn "cannot start task #{@started + 1} of a tree of #{@tasks} leaves: #{error.message}"
    puts "done #{@done}", "failed #{[@tasks - @started, 1].max}"
    exit!(1)
  end
end

tasks, operations = ARGV.map { |word| Integer(word, 10, exception: false) }
unless ARGV.size == 2 && ARGV[0].match?(/\A10*\z/) && operations&.positive? && (operations % tasks).zero?
  warn 'usage: skynet.rb <tasks> <operations>: tasks a power of ten, operations a multiple of them'
  exit 2
end
$stdout.sync = true
Skynet.new(tasks, operations).run
