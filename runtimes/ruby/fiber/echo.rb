# One task of the async gem per connection, which is a fiber that sends back what it receives.

require 'async'
require 'socket'

def run(host, port)
  Async do |reactor|
    listener = TCPServer.new(host, port)
    listener.listen(4096)
    puts "listening #{listener.local_address.ip_port}"
    loop do
      client = listener.accept
      reactor.async { echo(client) }
    end
  rescue SystemCallError, FiberError, NoMemoryError => e
    warn "cannot accept: #{e.message}"
    exit! 1
  end
end

def echo(client)
  client.setsockopt(:TCP, :NODELAY, true)
  loop { client.write(client.readpartial(4096)) }
rescue EOFError, SystemCallError
  # The client has gone.
ensure
  client.close
end

$stdout.sync = true
_, _, address = ARGV
run(*address.split(':'))
