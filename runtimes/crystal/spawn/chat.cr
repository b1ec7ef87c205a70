# A fiber per connection, which HTTP::Server makes and which reads, and one more that writes what the room says.

require "http/server"

# Sets what HTTP::Server leaves unset, and ends the program where HTTP::Server would try again for ever.
class Listener < TCPServer
  def accept? : TCPSocket?
    super.tap { |client| client.try &.tcp_nodelay = true }
  rescue error : Socket::Error
    abort error.message
  end
end

class Member
  LIMIT = 65_536

  @@rooms = Hash(String, Set(Member)).new { |rooms, name| rooms[name] = Set(Member).new }

  @room : String?

  def initialize(@socket : TCPSocket)
    @web_socket = HTTP::WebSocket.new(@socket, sync_close: false)
    @queue = Channel(String).new(256)
  end

  def run
    @web_socket.on_message { |text| handle text }
    @web_socket.on_binary { refuse :unsupported_data }
    @web_socket.on_close { |code| @web_socket.close code if code.normal_closure? } # else the answer has no code
    spawn write
    @web_socket.run
  ensure
    leave
    @queue.close
  end

  # A queue that is full is that of a client that does not read.
  protected def deliver(text)
    return if @queue.closed?
    select
    when @queue.send(text)
    else
      cut_off
    end
  end

  private def write
    while text = @queue.receive?
      @web_socket.send text
    end
  rescue IO::Error
    cut_off
  end

  private def handle(text)
    if text.bytesize > LIMIT
      refuse :message_too_big
    elsif !text.valid_encoding?
      refuse :invalid_frame_payload_data
    elsif room = text.lchop?("join ")
      leave
      @room = room
      @@rooms[room] << self
      deliver "joined #{room}"
    elsif (room = @room) && (said = text.lchop?("say "))
      @@rooms[room].each &.deliver(said)
      Fiber.yield # to those that write: there may be more to read than their queues hold
    else
      refuse :policy_violation
    end
  end

  private def leave
    return unless (room = @room) && (members = @@rooms[room]?)
    members.delete self
    @@rooms.delete room if members.empty?
    @room = nil
  end

  private def refuse(code : HTTP::WebSocket::CloseCode)
    @web_socket.close code
    cut_off
  end

  # Wakes both fibers, without a wait for what cannot be written.
  private def cut_off
    @queue.close
    @socket.close_read
    @socket.close_write
  rescue Socket::Error
    # The client has gone before.
  end
end

address = ARGV[2]?.try &.match(/\A(.+):(\d+)\z/)
port = address.try &.[2].to_u16?
unless ARGV.size == 3 && ARGV[0].to_i?.try(&.positive?) && ARGV[1] == "--listen" && address && port
  STDERR.puts "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task"
  exit 2
end
STDOUT.sync = true

handshake = HTTP::WebSocketHandler.new { }
server = HTTP::Server.new do |context|
  handshake.call context
  # In place of the handler's own WebSocket, which keeps to itself the socket that cut_off needs.
  if context.response.upgrade_handler
    context.response.upgrade_handler = ->(io : IO) { Member.new(io.as(TCPSocket)).run }
  end
end
listener = Listener.new(address[1], port, backlog: 4096)
server.bind listener
puts "listening #{listener.local_address.port}"
server.listen
