# One fiber per task, made by spawn, each waiting for one message.

lib LibGC
  fun set_oom_fn = GC_set_oom_fn(callback : LibC::SizeT -> Void*)
end

module Park
  @@tasks = 0
  @@launched = 0
  @@started = 0
  @@finished = 0
  @@ends = Channel(Nil).new

  def self.run(tasks, wait)
    due = Time.monotonic + wait
    @@tasks = tasks
    # The system may refuse memory to the collector first, of which Crystal makes no exception.
    LibGC.set_oom_fn ->(bytes : LibC::SizeT) { give_up "no memory for #{bytes} bytes"; Pointer(Void).null }
    mailboxes = Array(Channel(Nil)).new(tasks)
    begin
      tasks.times do
        mailbox = Channel(Nil).new(1) # room for the message, so that sending does not wait for the receiver
        mailboxes << mailbox
        spawn task(mailbox)
        @@launched += 1
      end
    rescue error : RuntimeError
      give_up error.message
    end
    sleep({due - Time.monotonic, Time::Span.zero}.max)
    mailboxes.each &.send(nil)
    tasks.times { @@ends.receive }
    puts "done #{@@finished}"
  end

  private def self.task(mailbox)
    @@started += 1
    puts "alive #{@@started - @@finished}" if @@started == @@tasks
    mailbox.receive
    @@finished += 1
    @@ends.send nil
  end

  private def self.give_up(reason)
    STDERR.puts "cannot start task #{@@launched + 1} of #{@@tasks}: #{reason}"
    puts "done #{@@finished}", "failed #{@@tasks - @@launched}"
    exit 1
  end
end

tasks, seconds = {ARGV[0]?, ARGV[1]?}.map { |word| word.try &.to_i? }
unless ARGV.size == 2 && tasks && tasks >= 1 && seconds && seconds >= 0
  STDERR.puts "usage: park <tasks> <seconds>: whole numbers, at least one task"
  exit 2
end
STDOUT.sync = true
Park.run(tasks, seconds.seconds)
