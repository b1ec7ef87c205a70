# One fiber per node of a tree, made by spawn, with a channel for the sums of its ten children.

# Sends its sum, of so many leaves from a number on.
def node(first, leaves, parent)
  if leaves == 1
    parent.send first
    return
  end
  share = leaves // 10
  sums = Channel(Int64).new
  10.times do |i|
    spawn node(first + i * share, share, sums)
  end
  parent.send (0...10).sum { sums.receive }
rescue error : RuntimeError
  STDERR.puts "cannot start a node of #{leaves} leaves: #{error.message}"
  puts "failed #{leaves}"
  exit 1
end

def run(tasks, operations)
  puts "ready"
  done = sum = 0_i64
  results = Channel(Int64).new
  while done < operations
    spawn node(0_i64, tasks, results)
    sum += results.receive
    done += tasks
  end
  puts "done #{operations}", "check #{sum}"
end

tasks, operations = {ARGV[0]?, ARGV[1]?}.map { |word| word.try &.to_i64? }
power_of_ten = ARGV[0]?.try &.matches?(/\A10*\z/)
unless ARGV.size == 2 && power_of_ten && tasks && operations && operations >= 1 && operations % tasks == 0
  abort "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them", 2
end
STDOUT.sync = true
run(tasks, operations)
