# A ring of ractors: each receives tokens and sends them to the next ractor, which its first message names.
# A token is the number of hops that it has left.

def run(tasks, operations, tokens)
  ring = launch(tasks)
  ring.zip(ring.rotate) { |ractor, next_ractor| ractor << next_ractor }
  tasks.times { Ractor.receive }
  puts "alive #{tasks}", 'ready'

  tokens.times do |token|
    extra = token < operations % tokens ? 1 : 0
    ring[token * tasks / tokens] << operations / tokens + extra
  end
  sum = Array.new(tokens) { Ractor.receive }.sum
  puts "done #{operations}", "check #{sum}" # the ractors end with the program
end

def launch(tasks)
  ractors = []
  tasks.times do |i|
    ractors << Ractor.new(Ractor.current, i) do |main, number|
      next_ractor = Ractor.receive
      main << :started
      loop do
        hops = Ractor.receive
        hops.positive? ? next_ractor << (hops - 1) : main << number
      end
    end
  end
  ractors
rescue ThreadError, NoMemoryError => e
  warn "cannot start task #{ractors.size + 1} of #{tasks}: #{e.message}"
  puts "failed #{tasks - ractors.size}"
  exit! 1
end

$stdout.sync = true
tasks, operations, _, tokens = ARGV
run(Integer(tasks), Integer(operations), Integer(tokens || 1))
