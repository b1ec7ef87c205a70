# One fiber per connection, made by spawn, which sends back what comes.

require "socket"

module Echo
  def self.serve(listener)
    puts "listening #{listener.local_address.port}"
    while client = listener.accept?
      spawn answer(client)
    end
  rescue error : Socket::Error
    abort error.message
  end

  private def self.answer(client)
    client.tcp_nodelay = true
    IO.copy(client, client)
  rescue IO::Error
  ensure
    client.close
  end
end

address = ARGV[2]?.try &.match(/\A(.+):(\d+)\z/)
port = address.try &.[2].to_u16?
unless ARGV.size == 3 && ARGV[0].to_i?.try(&.positive?) && ARGV[1] == "--listen" && address && port
  STDERR.puts "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task"
  exit 2
end
STDOUT.sync = true
Echo.serve(TCPServer.new(address[1], port, backlog: 4096))
