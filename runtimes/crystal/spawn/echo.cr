# One fiber per connection, made by spawn, which echoes what it reads.

require "socket"

def echo(client)
  client.tcp_nodelay = true
  client.read_buffering = false # the buffer below replaces the socket's own of 32 KiB
  buffer = uninitialized UInt8[4096]
  slice = buffer.to_slice
  while (length = client.read(slice)) > 0
    client.write slice[0, length]
  end
rescue IO::Error
  # The client is gone.
ensure
  client.close
end

ARGV[0].to_i
host, port = ARGV[2].split(':')
server = TCPServer.new(host, port.to_i, backlog: 4096)
puts "listening #{server.local_address.port}"
STDOUT.flush
while client = server.accept?
  spawn echo(client)
end
