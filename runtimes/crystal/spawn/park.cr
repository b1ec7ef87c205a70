# One fiber per task, made by spawn, each waiting for one message.

def run(tasks, wait)
  due = Time.monotonic + wait
  started = finished = 0
  ends = Channel(Nil).new
  mailboxes = [] of Channel(Nil)
  begin
    tasks.times do
      mailbox = Channel(Nil).new(1) # capacity 1: sending does not wait for the receiver
      spawn do
        started += 1
        puts "alive #{started - finished}" if started == tasks
        mailbox.receive
        finished += 1
        ends.send nil
      end
      mailboxes << mailbox
    end
  rescue error : RuntimeError
    STDERR.puts "cannot start task #{mailboxes.size + 1} of #{tasks}: #{error.message}"
    puts "done #{finished}", "failed #{tasks - mailboxes.size}"
    exit 1
  end
  sleep({due - Time.monotonic, Time::Span.zero}.max)
  mailboxes.each &.send(nil)
  tasks.times { ends.receive }
  puts "done #{finished}"
end

tasks, seconds = ARGV.map(&.to_i)
STDOUT.sync = true
run(tasks, seconds.seconds)
