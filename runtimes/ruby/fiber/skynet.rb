# One task of the async gem per node of a tree: a node waits for its ten children and returns their sum.

require 'async'

class Skynet
  def initialize(tasks, operations)
    @tasks = tasks
    @operations = operations
    @sum = @done = @started = 0
  end

  def run
    puts 'ready'
    Async do |reactor|
      while @done < @operations
        @started = 0
        @sum += reactor.async { |root| node(root, 0, @tasks) }.wait
        @done += @tasks
      end
    end
    puts "done #{@operations}", "check #{@sum}"
  end

  private

  def node(task, first, leaves)
    @started += 1
    if leaves == 1
      task.yield # a new task runs at once: without this, only one leaf would be alive at a time
      return first
    end
    size = leaves / 10
    children = Array.new(10) { |i| task.async { |child| node(child, first + i * size, size) } }
    children.sum(&:wait)
  rescue FiberError, NoMemoryError => e
    warn "cannot start task #{@started + 1} of a tree of #{@tasks} leaves: #{e.message}"
    puts "done #{@done}", "failed #{[@tasks - @started, 1].max}"
    exit! 1
  end
end

$stdout.sync = true
Skynet.new(*ARGV.map { |word| Integer(word) }).run
