# Two tasks of the async gem per WebSocket: one reads from the client, the other writes what is in the client's queue.

require 'async'
require 'set'
require 'socket'
require 'websocket/driver'

class Member
  def initialize(client, output, rooms)
    @client = client
    @output = output
    @rooms = rooms
    @queue = Thread::SizedQueue.new(256)
    @driver = WebSocket::Driver.server(self, max_length: 65_536, require_masking: true)
    @driver.on(:connect) { WebSocket::Driver.websocket?(@driver.env) ? @driver.start : refuse }
    @driver.on(:message) { |event| handle(event.data) }
    @driver.on(:close) { @queue.close }
  end

  def run(task)
    @client.setsockopt(:TCP, :NODELAY, true)
    @task = task
    writer = task.async { write_queued }
    loop { @driver.parse(@client.readpartial(4096)) }
  rescue EOFError, SystemCallError
    # The client has gone.
  ensure
    leave
    writer&.stop
    @output.close
    @client.close
  end

  def send_text(text)
    @driver.text(text)
  end

  # The driver calls this with each frame.
  def write(bytes)
    @queue.push(bytes, true) unless @queue.closed?
  rescue ThreadError # the queue is full: the client does not read
    @queue.close
    disconnect
  end

  private

  def write_queued
    while (bytes = @queue.pop)
      @output.write(bytes)
    end
    disconnect
  rescue SystemCallError
    disconnect
  end

  # Ends the reads and writes that both tasks wait for.
  def disconnect
    @client.shutdown
  rescue SystemCallError
    # The client has gone.
  end

  def handle(message)
    return if @queue.closed?

    case message
    when Array then close(1003) # binary
    when /\Ajoin (.*)\z/m then join(Regexp.last_match(1))
    when /\Asay (.*)\z/m then @room ? say(Regexp.last_match(1)) : close(1008)
    else close(1008)
    end
  end

  def join(room)
    leave
    @room = room
    (@rooms[room] ||= Set.new) << self
    send_text("joined #{room}")
  end

  def say(text)
    @rooms[@room].each { |member| member.send_text(text) }
    @task.yield # lets the writers run: one read may hold more messages than a queue
  end

  def leave
    return unless @room

    @rooms[@room].delete(self)
    @rooms.delete(@room) if @rooms[@room].empty?
    @room = nil
  end

  def close(code)
    @driver.close('', code)
    @queue.close
  end

  def refuse
    write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    @queue.close
  end
end

def run(host, port)
  rooms = {}
  Async do |reactor|
    listener = TCPServer.new(host, port)
    listener.listen(4096)
    puts "listening #{listener.local_address.ip_port}"
    loop do
      client = listener.accept
      output = client.dup # async 1 lets only one fiber wait for an IO
      reactor.async { |task| Member.new(client, output, rooms).run(task) }
    end
  rescue SystemCallError, FiberError, NoMemoryError => e
    warn "cannot accept: #{e.message}"
    exit! 1
  end
end

$stdout.sync = true
_, _, address = ARGV
run(*address.split(':'))
