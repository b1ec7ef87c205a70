# One process per connection, which accepts it, leaves the listener to the next one, and sends back what comes.
defmodule Echo do
  def main(args) do
    # The VM's own way to end at SIGTERM says so on standard output.
    :os.set_signal(:sigterm, :default)

    case address(args) do
      {:ok, ip, port} ->
        {:ok, listener} = :gen_tcp.listen(port, [:binary, ip: ip, reuseaddr: true] ++ options())
        {:ok, bound} = :inet.port(listener)
        IO.puts("listening #{bound}")
        spawn(fn -> accept(listener) end)
        Process.sleep(:infinity)

      :error ->
        IO.puts(
          :stderr,
          "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task"
        )

        System.halt(2)
    end
  end

  # A client that has closed its side is still answered, so its end must not close the socket.
  defp options do
    [active: false, backlog: 4096, buffer: 4096, exit_on_close: false, nodelay: true]
  end

  defp accept(listener) do
    case :gen_tcp.accept(listener) do
      {:ok, socket} ->
        spawn(fn -> accept(listener) end)
        echo(socket)

      {:error, :econnaborted} ->
        accept(listener)

      {:error, :emfile} ->
        IO.puts(:stderr, "cannot accept: too many open files")
        System.halt(1)

      {:error, reason} ->
        IO.puts(:stderr, "cannot accept: #{reason}")
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

  defp address([tasks, "--listen", listen]) do
    with {tasks, ""} when tasks >= 1 <- Integer.parse(tasks),
         [host, port] <- String.split(listen, ":"),
         {:ok, ip} <- :inet.getaddr(String.to_charlist(host), :inet),
         {port, ""} when port in 0..65_535 <- Integer.parse(port) do
      {:ok, ip, port}
    else
      _ -> :error
    end
  end

  defp address(_), do: :error
end
