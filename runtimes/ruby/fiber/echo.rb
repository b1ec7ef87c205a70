# One fiber per connection, in the reactor of the async gem, which sends back what comes.

require 'async'
require 'socket'

class Echo
  def initialize(host, port)
    @host = host
    @port = port
  end

  def run
    Async do |main|
      listener = TCPServer.new(@host, @port)
      listener.listen(4096)
      puts "listening #{listener.local_address.ip_port}"
      loop do
        client = listener.accept
        main.async { echo(client) }
      end
    rescue SystemCallError, FiberError, NoMemoryError => e
      give_up(e)
    end
  end

  private

  def echo(client)
    client.setsockopt(:TCP, :NODELAY, true)
    loop { client.write(client.readpartial(4096)) }
  rescue EOFError, SystemCallError
    # The client has closed its side, or is gone.
  ensure
    client.close
  end

  def give_up(error)
    warn "cannot accept: #{error.message}"
    exit!(1)
  end
end

tasks, option, address = ARGV
host, port = address.to_s.match(/\A(.+):(\d+)\z/)&.captures
unless ARGV.size == 3 && Integer(tasks, 10, exception: false)&.positive? && option == '--listen' && port
  warn 'usage: echo.rb <tasks> --listen <host>:<port>: a whole number, at least one task'
  exit 2
end
$stdout.sync = true
Echo.new(host, port).run
