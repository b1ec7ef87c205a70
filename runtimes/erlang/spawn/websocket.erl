%% The server side of RFC 6455, as far as a chat needs it: OTP has none.
-module(websocket).
-export([accept/1, decode/2, text/1, pong/1, close/1]).

-define(MAX_MESSAGE, 65536).

-define(CONTINUATION, 0).
-define(TEXT, 1).
-define(BINARY, 2).
-define(CLOSE, 8).
-define(PING, 9).
-define(PONG, 10).

%% The handshake on a passive socket with {packet, http_bin}, which is raw afterwards.
accept(Socket) ->
    Request = gen_tcp:recv(Socket, 0),
    Headers = headers(Socket, #{}),
    case is_websocket(Request, Headers) of
        true ->
            Key = maps:get(<<"sec-websocket-key">>, Headers),
            Accept = base64:encode(crypto:hash(sha, [Key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"])),
            _ = gen_tcp:send(Socket, [
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
                ["Sec-WebSocket-Accept: ", Accept, "\r\n\r\n"]
            ]),
            inet:setopts(Socket, [{packet, raw}]);
        false ->
            _ = gen_tcp:send(Socket, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            {error, bad_request}
    end.

headers(Socket, Headers) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_header, _, _, Name, Value}} -> headers(Socket, Headers#{string:lowercase(Name) => string:trim(Value)});
        {ok, http_eoh} -> Headers;
        _ -> #{}
    end.

is_websocket({ok, {http_request, 'GET', _, {1, 1}}}, #{
    <<"upgrade">> := Upgrade,
    <<"connection">> := Connection,
    <<"sec-websocket-version">> := <<"13">>,
    <<"sec-websocket-key">> := _
}) ->
    has_token(<<"websocket">>, Upgrade) andalso has_token(<<"upgrade">>, Connection);
is_websocket(_, _) ->
    false.

has_token(Token, Value) ->
    lists:member(Token, [string:trim(Part) || Part <- string:split(string:lowercase(Value), ",", all)]).

%% Decodes the first frame in Buffer. Message holds the fragments of an incomplete message, or is none.
decode(<<>>, _) ->
    {more, <<>>};
decode(Buffer, Message) ->
    case frame(Buffer) of
        {Opcode, Fin, Payload, Rest} -> event(Opcode, Fin, Payload, Message, Rest);
        more -> {more, Buffer};
        {close, Reason} -> {close, Reason}
    end.

frame(<<_:1, Reserved:3, _:4, Mask:1, _:7, _/binary>>) when Reserved =/= 0; Mask =:= 0 -> failure(1002);
frame(<<Fin:1, _:3, Opcode:4, _:1, Size:7, _/binary>>) when Opcode >= ?CLOSE, Fin =:= 0 orelse Size > 125 -> failure(1002);
frame(<<Fin:1, _:3, Opcode:4, _:1, 127:7, Size:64, Rest/binary>>) -> payload(Opcode, Fin, Size, Rest);
frame(<<Fin:1, _:3, Opcode:4, _:1, 126:7, Size:16, Rest/binary>>) -> payload(Opcode, Fin, Size, Rest);
frame(<<Fin:1, _:3, Opcode:4, _:1, Size:7, Rest/binary>>) when Size < 126 -> payload(Opcode, Fin, Size, Rest);
frame(_) -> more.

payload(_, _, Size, _) when Size > ?MAX_MESSAGE -> failure(1009);
payload(Opcode, Fin, Size, Buffer) ->
    case Buffer of
        <<Key:4/binary, Masked:Size/binary, Rest/binary>> -> {Opcode, Fin, unmask(Masked, Key), Rest};
        _ -> more
    end.

unmask(Masked, Key) ->
    Size = byte_size(Masked),
    crypto:exor(Masked, binary:part(binary:copy(Key, Size div 4 + 1), 0, Size)).

event(?TEXT, Fin, Payload, none, Rest) -> message(Fin, Payload, Rest);
event(?CONTINUATION, Fin, Payload, <<Message/binary>>, Rest) -> message(Fin, <<Message/binary, Payload/binary>>, Rest);
event(?BINARY, _, _, none, _) -> failure(1003);
event(?PING, _, Payload, _, Rest) -> {{ping, Payload}, Rest};
event(?PONG, _, _, Message, Rest) -> {incomplete, Message, Rest};
event(?CLOSE, _, <<>>, _, _) -> {close, <<>>};
event(?CLOSE, _, <<Code:16, _/binary>>, _, _) when Code > 999, Code < 1004; Code > 1006, Code < 1015; Code > 2999, Code < 5000 ->
    failure(Code);
event(_, _, _, _, _) -> failure(1002).

message(_, Text, _) when byte_size(Text) > ?MAX_MESSAGE -> failure(1009);
message(0, Text, Rest) -> {incomplete, Text, Rest};
message(1, Text, Rest) ->
    case unicode:characters_to_binary(Text) of
        Text -> {{text, Text}, Rest};
        _ -> failure(1007)
    end.

failure(Code) -> {close, <<Code:16>>}.

text(Text) -> encode(?TEXT, Text).
pong(Payload) -> encode(?PONG, Payload).
close(Reason) -> encode(?CLOSE, Reason).

encode(Opcode, Payload) ->
    case byte_size(Payload) of
        Size when Size < 126 -> <<1:1, 0:3, Opcode:4, Size, Payload/binary>>;
        Size when Size < 65536 -> <<1:1, 0:3, Opcode:4, 126, Size:16, Payload/binary>>;
        Size -> <<1:1, 0:3, Opcode:4, 127, Size:64, Payload/binary>>
    end.
