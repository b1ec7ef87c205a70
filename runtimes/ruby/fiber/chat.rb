# A fiber per connection, in the reactor of the async gem, which reads, and one more that writes what the room says.

require 'async'
require 'set'
require 'socket'
require 'websocket/driver'

class Member
  def initialize(client, output, rooms)
    @client = client
    @output = output
    @rooms = rooms
    @outbox = Thread::SizedQueue.new(256)
    @driver = WebSocket::Driver.server(self, max_length: 65_536, require_masking: true)
    @driver.on(:connect) { WebSocket::Driver.websocket?(@driver.env) ? @driver.start : refuse_request }
    @driver.on(:message) { |event| answer(event.data) }
    @driver.on(:close) { @outbox.close }
  end

  def run(task)
    @client.setsockopt(:TCP, :NODELAY, true)
    @task = task
    writer = task.async { write_outbox }
    loop { @driver.parse(@client.readpartial(4096)) }
  rescue EOFError, SystemCallError
    # The client has closed its side, or is gone.
  ensure
    leave
    writer&.stop
    @output.close
    @client.close
  end

  def say(text)
    @driver.text(text)
  end

  # The driver calls this with each frame. A queue that is full is that of a client that does not read.
  def write(bytes)
    @outbox.push(bytes, true) unless @outbox.closed?
  rescue ThreadError
    @outbox.close
    shut_down
  end

  private

  def write_outbox
    while (bytes = @outbox.pop)
      @output.write(bytes)
    end
    shut_down
  rescue SystemCallError
    shut_down
  end

  # Wakes the fiber that reads, and the one that writes.
  def shut_down
    @client.shutdown
  rescue SystemCallError
    # The client has gone before.
  end

  def answer(message)
    return if @outbox.closed?

    case message
    when Array then close(1003)
    when /\Ajoin (.*)\z/m then join(Regexp.last_match(1))
    when /\Asay (.*)\z/m then @room ? tell(Regexp.last_match(1)) : close(1008)
    else close(1008)
    end
  end

  def join(room)
    leave
    @room = room
    (@rooms[room] ||= Set.new) << self
    say("joined #{room}")
  end

  def tell(text)
    @rooms[@room].each { |member| member.say(text) }
    @task.yield # to those that write: there may be more to read than their queues hold
  end

  def leave
    return unless @room

    @rooms[@room].delete(self)
    @rooms.delete(@room) if @rooms[@room].empty?
    @room = nil
  end

  def close(code)
    @driver.close('', code)
    @outbox.close
  end

  def refuse_request
    write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    @outbox.close
  end
end

class Chat
  def initialize(host, port)
    @host = host
    @port = port
    @rooms = {}
  end

  def run
    Async do |main|
      listener = TCPServer.new(@host, @port)
      listener.listen(4096)
      puts "listening #{listener.local_address.ip_port}"
      loop do
        client = listener.accept
        output = client.dup # in async 1 only one fiber can wait for an IO
        main.async { |task| Member.new(client, output, @rooms).run(task) }
      end
    rescue SystemCallError, FiberError, NoMemoryError => e
      give_up(e)
    end
  end

  private

  def give_up(error)
    warn "cannot accept: #{error.message}"
    exit!(1)
  end
end

tasks, option, address = ARGV
host, port = address.to_s.match(/\A(.+):(\d+)\z/)&.captures
unless ARGV.size == 3 && Integer(tasks, 10, exception: false)&.positive? && option == '--listen' && port
  warn 'usage: chat.rb <tasks> --listen <host>:<port>: a whole number, at least one task'
  exit 2
end
$stdout.sync = true
Chat.new(host, port).run
