# One process per connection, which reads from it and writes to it; a room is a key of a Registry.
defmodule Chat do
  @rooms Chat.Rooms

  def main(args) do
    # The VM's own way to end at SIGTERM says so on standard output.
    :os.set_signal(:sigterm, :default)

    case address(args) do
      {:ok, ip, port} ->
        {:ok, _} =
          Registry.start_link(
            keys: :duplicate,
            name: @rooms,
            partitions: System.schedulers_online()
          )

        {:ok, listener} = :gen_tcp.listen(port, [:binary, ip: ip, reuseaddr: true] ++ options())
        {:ok, bound} = :inet.port(listener)
        IO.puts("listening #{bound}")
        spawn(fn -> accept(listener) end)
        Process.sleep(:infinity)

      :error ->
        IO.puts(
          :stderr,
          "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task"
        )

        System.halt(2)
    end
  end

  # The socket keeps up to 1 MiB that the client has not taken. Who lets it fill is cut off within a millisecond, so
  # no process waits in send while its mailbox grows. (A timeout of 0 would not close the socket.)
  defp options do
    [
      packet: :http_bin,
      active: false,
      backlog: 4096,
      buffer: 4096,
      nodelay: true,
      high_watermark: 1_048_576,
      send_timeout: 1,
      send_timeout_close: true
    ]
  end

  defp accept(listener) do
    case :gen_tcp.accept(listener) do
      {:ok, socket} ->
        spawn(fn -> accept(listener) end)
        connection(socket)

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

  # A socket is closed and a member taken out of its room when their process ends.
  defp connection(socket) do
    with :ok <- WebSocket.accept(socket), do: loop(socket, %WebSocket{}, nil)
  end

  defp loop(socket, decoder, room) do
    with :ok <- :inet.setopts(socket, active: :once), do: wait(socket, decoder, room)
  end

  defp wait(socket, decoder, room) do
    receive do
      {:frame, frame} ->
        send_frame(socket, frame)
        wait(socket, decoder, room)

      {:tcp, ^socket, data} ->
        {events, decoder} = WebSocket.decode(decoder, data)
        loop(socket, decoder, Enum.reduce(events, room, &handle(&1, &2, socket)))

      {:tcp_closed, ^socket} ->
        :ok

      {:tcp_error, ^socket, _reason} ->
        :ok
    end
  end

  defp handle({:text, "join " <> room}, old, socket) do
    if old, do: Registry.unregister(@rooms, old)
    {:ok, _} = Registry.register(@rooms, room, nil)
    send_frame(socket, WebSocket.text("joined " <> room))
    room
  end

  defp handle({:text, "say " <> text}, room, _socket) when room != nil do
    frame = WebSocket.text(text)

    Registry.dispatch(@rooms, room, fn members ->
      for {pid, _} <- members, do: send(pid, {:frame, frame})
    end)

    room
  end

  defp handle({:text, _}, _room, socket), do: close(socket, <<1008::16>>)

  defp handle({:ping, payload}, room, socket) do
    send_frame(socket, WebSocket.pong(payload))
    room
  end

  defp handle({:close, reason}, _room, socket), do: close(socket, reason)

  defp send_frame(socket, frame) do
    with {:error, _} <- :gen_tcp.send(socket, frame), do: exit(:normal)
  end

  defp close(socket, reason) do
    send_frame(socket, WebSocket.close(reason))
    exit(:normal)
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
