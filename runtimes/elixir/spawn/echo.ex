# One process per connection, which accepts it, leaves the listener to a new process, and sends back what it receives.
defmodule Echo do
  def main([tasks, "--listen", host_port]) do
    # The VM's own handler of SIGTERM prints a line.
    :os.set_signal(:sigterm, :default)
    _ = String.to_integer(tasks)
    [host, port] = String.split(host_port, ":")
    {:ok, ip} = :inet.getaddr(String.to_charlist(host), :inet)
    options = [:binary, ip: ip, reuseaddr: true] ++ options()
    {:ok, listener} = :gen_tcp.listen(String.to_integer(port), options)
    {:ok, port} = :inet.port(listener)
    IO.puts("listening #{port}")
    spawn(fn -> accept(listener) end)
    Process.sleep(:infinity)
  end

  # A client that has closed its side still gets its answer: the end of input must not close the socket.
  defp options do
    [active: false, backlog: 4096, buffer: 4096, nodelay: true, exit_on_close: false]
  end

  defp accept(listener) do
    case :gen_tcp.accept(listener) do
      {:ok, socket} ->
        spawn(fn -> accept(listener) end)
        echo(socket)

      {:error, :econnaborted} ->
        accept(listener)

      {:error, reason} ->
        IO.puts(:stderr, "cannot accept: #{:inet.format_error(reason)}")
        System.halt(1)
    end
  end

  defp echo(socket) do
    with {:ok, data} <- :gen_tcp.recv(socket, 0),
         :ok <- :gen_tcp.send(socket, data) do
      echo(socket)
    else
      {:error, _reason} -> :gen_tcp.close(socket)
    end
  end
end
