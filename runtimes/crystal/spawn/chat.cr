# A chat over WebSocket with two fibers per connection: HTTP::Server makes one, which reads; the other writes.

require "http/server"

# Sets TCP_NODELAY, and ends the program on an error where HTTP::Server would retry forever.
class Listener < TCPServer
  def accept? : TCPSocket?
    super.tap { |client| client.try &.tcp_nodelay = true }
  rescue error : Socket::Error
    abort error.message
  end
end

class Member
  MAX_MESSAGE = 65_536

  @@rooms = Hash(String, Set(Member)).new { |rooms, name| rooms[name] = Set(Member).new }

  @room : String?

  def initialize(@socket : TCPSocket)
    @web_socket = HTTP::WebSocket.new(@socket, sync_close: false)
    @queue = Channel(String).new(256)
  end

  def run
    @web_socket.on_message { |text| handle text }
    @web_socket.on_binary { refuse :unsupported_data }
    @web_socket.on_close { |code| @web_socket.close code if code.normal_closure? } # the default reply has no code
    spawn write
    @web_socket.run
  ensure
    leave
    @queue.close
  end

  # Never waits: a member that lets its queue fill up is disconnected.
  protected def deliver(text)
    return if @queue.closed?
    select
    when @queue.send(text)
    else
      disconnect
    end
  end

  private def write
    while text = @queue.receive?
      @web_socket.send text
    end
  rescue IO::Error
    disconnect
  end

  private def handle(text)
    if text.bytesize > MAX_MESSAGE
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
      Fiber.yield # to the writers: more messages may be ready than queues hold
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
    disconnect
  end

  # Ends both fibers, without waiting for unsent bytes.
  private def disconnect
    @queue.close
    @socket.close_read
    @socket.close_write
  rescue Socket::Error
    # The client is gone.
  end
end

ARGV[0].to_i
host, port = ARGV[2].split(':')

handshake = HTTP::WebSocketHandler.new { }
server = HTTP::Server.new do |context|
  handshake.call context
  # Replaces the handler's own WebSocket, whose socket is private: `disconnect` needs it.
  if context.response.upgrade_handler
    context.response.upgrade_handler = ->(io : IO) { Member.new(io.as(TCPSocket)).run }
  end
end
listener = Listener.new(host, port.to_i, backlog: 4096)
server.bind listener
puts "listening #{listener.local_address.port}"
STDOUT.flush
server.listen
