# One fiber per task, made by spawn; the main fiber receives each completion on a channel.

def run(tasks, wait)
  launched = started = finished = 0
  ends = Channel(Nil).new
  begin
    tasks.times do
      spawn do
        started += 1
        puts "alive #{started - finished}" if started == tasks
        sleep wait
        finished += 1
        ends.send nil
      end
      launched += 1
    end
  rescue error : RuntimeError
    STDERR.puts "cannot start task #{launched + 1} of #{tasks}: #{error.message}"
    puts "done #{finished}", "failed #{tasks - launched}"
    exit 1
  end
  tasks.times { ends.receive }
  puts "done #{finished}"
end

tasks, seconds = ARGV.map(&.to_i)
STDOUT.sync = true
run(tasks, seconds.seconds)
