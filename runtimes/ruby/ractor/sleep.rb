# One ractor per task. Ractors share no variables, so each sends the main ractor a message at its start and its end.

def run(tasks, seconds)
  launch(tasks, seconds)
  started = finished = 0
  while finished < tasks
    case Ractor.receive
    when :started
      started += 1
      puts "alive #{started - finished}" if started == tasks
    when :finished
      finished += 1
    end
  end
  puts "done #{finished}"
end

def launch(tasks, seconds)
  launched = 0
  tasks.times do
    Ractor.new(Ractor.current, seconds) do |main, seconds|
      main << :started
      sleep seconds
      main << :finished
    end
    launched += 1
  end
rescue ThreadError, NoMemoryError => e
  warn "cannot start task #{launched + 1} of #{tasks}: #{e.message}"
  puts "failed #{tasks - launched}"
  exit! 1
end

$stdout.sync = true
run(*ARGV.map { |word| Integer(word) })
