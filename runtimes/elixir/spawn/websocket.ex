# The server side of RFC 6455, as far as a chat needs it: neither Elixir nor OTP has one.
defmodule WebSocket do
  @max_message 65_536

  @continuation 0
  @text 1
  @binary 2
  @close 8
  @ping 9
  @pong 10

  @doc "The handshake on a passive socket with `packet: :http_bin`, which is raw afterwards."
  def accept(socket) do
    with {:ok, {:http_request, :GET, _path, {1, 1}}} <- :gen_tcp.recv(socket, 0),
         %{"upgrade" => upgrade, "connection" => connection} = headers <- headers(socket, %{}),
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
        bad_request = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        :gen_tcp.send(socket, bad_request)
        {:error, :bad_request}
    end
  end

  defp headers(socket, headers) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_header, _, _, name, value}} ->
        headers(socket, Map.put(headers, String.downcase(name), String.trim(value)))

      {:ok, :http_eoh} ->
        headers

      _ ->
        :error
    end
  end

  defp token?(value, token) do
    value |> String.downcase() |> String.split(",") |> Enum.any?(&(String.trim(&1) == token))
  end

  @doc "Decodes the first frame in `buffer`. `message` holds the fragments of an incomplete message, or is nil."
  def decode("", _message), do: {:more, ""}

  def decode(buffer, message) do
    case frame(buffer) do
      {opcode, fin, payload, rest} -> event(opcode, fin, payload, message, rest)
      :more -> {:more, buffer}
      {:close, reason} -> {:close, reason}
    end
  end

  defp frame(<<_::1, reserved::3, _::4, mask::1, _::7, _::binary>>) when reserved != 0 or mask == 0,
    do: failure(1002)

  defp frame(<<fin::1, _::3, opcode::4, _::1, size::7, _::binary>>)
       when opcode >= @close and (size > 125 or fin == 0),
       do: failure(1002)

  defp frame(<<fin::1, _::3, opcode::4, _::1, 127::7, size::64, rest::binary>>),
    do: payload(opcode, fin, size, rest)

  defp frame(<<fin::1, _::3, opcode::4, _::1, 126::7, size::16, rest::binary>>),
    do: payload(opcode, fin, size, rest)

  defp frame(<<fin::1, _::3, opcode::4, _::1, size::7, rest::binary>>) when size < 126,
    do: payload(opcode, fin, size, rest)

  defp frame(_), do: :more

  defp payload(_opcode, _fin, size, _buffer) when size > @max_message, do: failure(1009)

  defp payload(opcode, fin, size, buffer) do
    case buffer do
      <<key::binary-size(4), masked::binary-size(size), rest::binary>> ->
        {opcode, fin, unmask(masked, key), rest}

      _ ->
        :more
    end
  end

  defp unmask(masked, key) do
    size = byte_size(masked)
    :crypto.exor(masked, binary_part(String.duplicate(key, div(size, 4) + 1), 0, size))
  end

  defp event(@text, fin, payload, nil, rest), do: message(fin, payload, rest)

  defp event(@continuation, fin, payload, message, rest) when message != nil,
    do: message(fin, message <> payload, rest)

  defp event(@binary, _fin, _payload, nil, _rest), do: failure(1003)
  defp event(@ping, _fin, payload, _message, rest), do: {{:ping, payload}, rest}
  defp event(@pong, _fin, _payload, message, rest), do: {:incomplete, message, rest}
  defp event(@close, _fin, "", _message, _rest), do: {:close, ""}

  defp event(@close, _fin, <<code::16, _::binary>>, _message, _rest)
       when code in 1000..1003 or code in 1007..1014 or code in 3000..4999,
       do: failure(code)

  defp event(_opcode, _fin, _payload, _message, _rest), do: failure(1002)

  defp message(_fin, text, _rest) when byte_size(text) > @max_message, do: failure(1009)
  defp message(0, text, rest), do: {:incomplete, text, rest}

  defp message(1, text, rest) do
    if String.valid?(text), do: {{:text, text}, rest}, else: failure(1007)
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
