# One fiber per operation, made by spawn, and a channel for the results.

def run(tasks, operations)
  results = Channel(Int64).new
  puts "ready"
  done = sum = 0_i64
  while done < operations
    round = {tasks, operations - done}.min
    round.times do |i|
      number = done + i
      spawn { results.send number }
    rescue error : RuntimeError
      STDERR.puts "cannot start task #{i + 1} of #{round}: #{error.message}"
      puts "done #{done}", "failed #{operations - done}"
      exit 1
    end
    round.times { sum += results.receive }
    done += round
  end
  puts "done #{operations}", "check #{sum}"
end

tasks, operations = ARGV.map(&.to_i64)
STDOUT.sync = true
run(tasks, operations)
