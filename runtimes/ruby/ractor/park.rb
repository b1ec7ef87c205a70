# One ractor per task, each waiting for one message. Ractors share no variables: each tells the main one of its start
# and its end.

def run(tasks, due)
  ractors = launch(tasks)
  tasks.times { Ractor.receive }
  puts "alive #{tasks}" # none ends before it is told to
  sleep([due - now, 0].max)
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
  exit!(1)
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

tasks, seconds = ARGV.map { |word| Integer(word, 10, exception: false) }
unless ARGV.size == 2 && tasks&.positive? && seconds && seconds >= 0
  warn 'usage: park.rb <tasks> <seconds>: whole numbers, at least one task'
  exit 2
end
$stdout.sync = true
run(tasks, now + seconds)
