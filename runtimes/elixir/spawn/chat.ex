# One process per connection, which reads and writes. A room is a key of a Registry.
defmodule Chat do
  @rooms Chat.Rooms

  def main([tasks, "--listen", host_port]) do
    # The VM's own handler of SIGTERM prints a line.
    :os.set_signal(:sigterm, :default)
    _ = String.to_integer(tasks)
    [host, port] = String.split(host_port, ":")
    {:ok, ip} = :inet.getaddr(String.to_charlist(host), :inet)
    partitions = System.schedulers_online()
    {:ok, _} = Registry.start_link(keys: :duplicate, name: @rooms, partitions: partitions)
    options = [:binary, ip: ip, reuseaddr: true] ++ options()
    {:ok, listener} = :gen_tcp.listen(String.to_integer(port), options)
    {:ok, port} = :inet.port(listener)
    IO.puts("listening #{port}")
    spawn(fn -> accept(listener) end)
    Process.sleep(:infinity)
  end

  # The socket queues up to 1 MiB for a client that does not read. When that is full, send fails after 1 ms and closes
  # the socket, so a mailbox has no time to grow. (A timeout of 0 would not close the socket.)
  defp options do
    [packet: :http_bin, active: false, backlog: 4096, buffer: 4096, nodelay: true] ++
      [high_watermark: 1_048_576, send_timeout: 1, send_timeout_close: true]
  end

  defp accept(listener) do
    case :gen_tcp.accept(listener) do
      {:ok, socket} ->
        spawn(fn -> accept(listener) end)
        connection(socket)

      {:error, :econnaborted} ->
        accept(listener)

      {:error, reason} ->
        IO.puts(:stderr, "cannot accept: #{:inet.format_error(reason)}")
        System.halt(1)
    end
  end

  # When the process ends, its socket is closed and the Registry removes it from its room.
  defp connection(socket) do
    with :ok <- WebSocket.accept(socket), do: loop(socket, "", nil, nil)
  end

  # `buffer` is input that is not decoded yet, `message` the fragments of a message that is incomplete.
  defp loop(socket, buffer, message, room) do
    case WebSocket.decode(buffer, message) do
      {:more, rest} ->
        with :ok <- :inet.setopts(socket, active: :once), do: wait(socket, rest, message, room)

      {:incomplete, fragments, rest} ->
        loop(socket, rest, fragments, room)

      {{:ping, payload}, rest} ->
        send_frame(socket, WebSocket.pong(payload))
        loop(socket, rest, message, room)

      {{:text, text}, rest} ->
        loop(socket, rest, nil, handle(text, socket, room))

      {:close, reason} ->
        :gen_tcp.send(socket, WebSocket.close(reason))
    end
  end

  defp wait(socket, buffer, message, room) do
    receive do
      {:frame, frame} ->
        send_frame(socket, frame)
        wait(socket, buffer, message, room)

      {:tcp, ^socket, data} ->
        loop(socket, buffer <> data, message, room)

      {:tcp_closed, ^socket} ->
        :ok

      {:tcp_error, ^socket, _reason} ->
        :ok
    end
  end

  defp handle("join " <> room, socket, old) do
    if old, do: Registry.unregister(@rooms, old)
    {:ok, _} = Registry.register(@rooms, room, nil)
    send_frame(socket, WebSocket.text("joined " <> room))
    room
  end

  defp handle("say " <> text, _socket, room) when room != nil do
    frame = WebSocket.text(text)

    Registry.dispatch(@rooms, room, fn members ->
      for {pid, _} <- members, do: send(pid, {:frame, frame})
    end)

    room
  end

  defp handle(_text, socket, _room) do
    :gen_tcp.send(socket, WebSocket.close(<<1008::16>>))
    exit(:normal)
  end

  defp send_frame(socket, frame) do
    with {:error, _} <- :gen_tcp.send(socket, frame), do: exit(:normal)
  end
end
