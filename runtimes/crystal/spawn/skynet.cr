# A tree of fibers, each with a channel for the sums of its ten children.

# Sends the sum of first, ..., first + leaves - 1.
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

tasks, operations = ARGV.map(&.to_i64)
STDOUT.sync = true
run(tasks, operations)
