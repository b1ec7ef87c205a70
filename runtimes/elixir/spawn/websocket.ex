# The server's side of RFC 6455, as far as a chat needs it: neither Elixir nor OTP has one.
defmodule WebSocket do
  @limit 65_536

  @continuation 0
  @text 1
  @binary 2
  @close 8
  @ping 9
  @pong 10

  # What has come of a frame, and the fragments of a message that is not complete.
  defstruct buffer: "", fragments: nil

  @doc "Answers the request that comes on a passive socket of `packet: :http_bin`, which is raw afterwards."
  def accept(socket) do
    with {:ok, {:http_request, :GET, _path, {1, 1}}} <- :gen_tcp.recv(socket, 0),
         {:ok, headers} <- headers(socket, %{}),
         %{"upgrade" => upgrade, "connection" => connection} <- headers,
         %{"sec-websocket-version" => "13", "sec-websocket-key" => key} <- headers,
         true <- token?(upgrade, "websocket") and token?(connection, "upgrade") do
      accept = :crypto.hash(:sha, [key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"])

      :gen_tcp.send(socket, [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
        ["Sec-WebSocket-Accept: ", Base.encode64(accept), "\r\n\r\n"]
      ])

      :inet.setopts(socket, packet: :raw)
    else
      _ ->
        :gen_tcp.send(
          socket,
          "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )

        {:error, :refused}
    end
  end

  defp headers(socket, headers) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_header, _, _, name, value}} ->
        headers(socket, Map.put(headers, String.downcase(name), String.trim(value)))

      {:ok, :http_eoh} ->
        {:ok, headers}

      _ ->
        :error
    end
  end

  defp token?(value, token) do
    value |> String.downcase() |> String.split(",") |> Enum.any?(&(String.trim(&1) == token))
  end

  @doc "What the client has said, in order; the last may be that, or why, it is to be closed."
  def decode(%__MODULE__{buffer: buffer, fragments: fragments}, data) do
    events(buffer <> data, fragments)
  end

  defp events("", fragments), do: {[], %__MODULE__{fragments: fragments}}

  defp events(buffer, fragments) do
    with {opcode, fin, payload, rest} <- frame(buffer),
         {:more, event, fragments} <- event(opcode, fin, payload, fragments) do
      {events, state} = events(rest, fragments)
      {List.wrap(event) ++ events, state}
    else
      :incomplete -> {[], %__MODULE__{buffer: buffer, fragments: fragments}}
      {:close, _} = close -> {[close], %__MODULE__{}}
    end
  end

  defp frame(<<_::1, reserved::3, _::4, _::binary>>) when reserved != 0, do: failure(1002)
  defp frame(<<_::8, 0::1, _::7, _::binary>>), do: failure(1002)

  defp frame(<<fin::1, _::3, opcode::4, _::1, size::7, _::binary>>)
       when opcode >= @close and (size > 125 or fin == 0),
       do: failure(1002)

  defp frame(<<fin::1, _::3, opcode::4, _::1, 127::7, size::64, rest::binary>>),
    do: payload(opcode, fin, size, rest)

  defp frame(<<fin::1, _::3, opcode::4, _::1, 126::7, size::16, rest::binary>>),
    do: payload(opcode, fin, size, rest)

  defp frame(<<fin::1, _::3, opcode::4, _::1, size::7, rest::binary>>) when size < 126,
    do: payload(opcode, fin, size, rest)

  defp frame(_), do: :incomplete

  defp payload(_opcode, _fin, size, _buffer) when size > @limit, do: failure(1009)

  defp payload(opcode, fin, size, buffer) do
    case buffer do
      <<key::binary-size(4), masked::binary-size(size), rest::binary>> ->
        {opcode, fin, unmask(masked, key), rest}

      _ ->
        :incomplete
    end
  end

  defp unmask(masked, key) do
    size = byte_size(masked)
    :crypto.exor(masked, binary_part(String.duplicate(key, div(size, 4) + 1), 0, size))
  end

  defp event(@text, 1, payload, nil), do: text_event(payload)
  defp event(@text, 0, payload, nil), do: {:more, nil, payload}
  defp event(@binary, _, _payload, nil), do: failure(1003)

  defp event(@continuation, _, payload, fragments)
       when byte_size(fragments) + byte_size(payload) > @limit,
       do: failure(1009)

  defp event(@continuation, 1, payload, fragments) when is_binary(fragments),
    do: text_event(fragments <> payload)

  defp event(@continuation, 0, payload, fragments) when is_binary(fragments),
    do: {:more, nil, fragments <> payload}

  defp event(@close, _, <<code::16, _::binary>>, _fragments), do: failure(code)
  defp event(@close, _, "", _fragments), do: {:close, ""}
  defp event(@ping, _, payload, fragments), do: {:more, {:ping, payload}, fragments}
  defp event(@pong, _, _payload, fragments), do: {:more, nil, fragments}
  defp event(_, _, _payload, _fragments), do: failure(1002)

  defp text_event(text) do
    if String.valid?(text), do: {:more, {:text, text}, nil}, else: failure(1007)
  end

  defp failure(code), do: {:close, <<code::16>>}

  def text(text), do: encode(@text, text)
  def pong(payload), do: encode(@pong, payload)
  def close(reason), do: encode(@close, reason)

  defp encode(opcode, payload) do
    case byte_size(payload) do
      size when size < 126 -> <<1::1, 0::3, opcode::4, size, payload::binary>>
      size when size < 65_536 -> <<1::1, 0::3, opcode::4, 126, size::16, payload::binary>>
      size -> <<1::1, 0::3, opcode::4, 127, size::64, payload::binary>>
    end
  end
end
