# One ractor per task, each waiting for one message. Ractors share no variables, so each sends the main ractor a message
# at its start and its end.

def run(tasks, seconds)
  wake_at = now + seconds
  ractors = launch(tasks)
  tasks.times { Ractor.receive }
  puts "alive #{tasks}" # none ends before its message
  sleep [wake_at - now, 0].max
  ractors.each { |ractor| ractor << nil }
  tasks.times { Ractor.receive }
  puts "done #{tasks}"
end

def launch(tasks)
  ractors = []
  tasks.times do
    ractors << Ractor.new(Ractor.current) do |main|
      main << :started
      Ractor.receive
      main << :finished
    end
  end
  ractors
rescue ThreadError, NoMemoryError => e
  warn "cannot start task #{ractors.size + 1} of #{tasks}: #{e.message}"
  puts "failed #{tasks - ractors.size}"
  exit! 1
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
