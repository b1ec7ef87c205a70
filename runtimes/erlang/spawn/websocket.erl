%% The server's side of RFC 6455, as far as a chat needs it: OTP has none.
-module(websocket).
-export([accept/1, new/0, decode/2, text/1, pong/1, close/1]).

-define(LIMIT, 65536).

-define(CONTINUATION, 0).
-define(TEXT, 1).
-define(BINARY, 2).
-define(CLOSE, 8).
-define(PING, 9).
-define(PONG, 10).

%% Answers the request that comes on a passive socket of {packet, http_bin}, which is raw afterwards.
accept(Socket) ->
    case request(Socket) of
        {ok, Key} ->
            Accept = base64:encode(crypto:hash(sha, [Key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"])),
            Headers = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
            _ = gen_tcp:send(Socket, ["HTTP/1.1 101 Switching Protocols\r\n", Headers, Accept, "\r\n\r\n"]),
            inet:setopts(Socket, [{packet, raw}]);
        error ->
            _ = gen_tcp:send(Socket, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            {error, refused}
    end.

request(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_request, 'GET', _, {1, 1}}} ->
            case headers(Socket, #{}) of
                #{
                    <<"upgrade">> := Upgrade,
                    <<"connection">> := Connection,
                    <<"sec-websocket-version">> := <<"13">>,
                    <<"sec-websocket-key">> := Key
                } ->
                    case has_token(<<"websocket">>, Upgrade) andalso has_token(<<"upgrade">>, Connection) of
                        true -> {ok, Key};
                        false -> error
                    end;
                _ ->
                    error
            end;
        _ ->
            error
    end.

headers(Socket, Headers) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_header, _, _, Name, Value}} -> headers(Socket, Headers#{string:lowercase(Name) => string:trim(Value)});
        {ok, http_eoh} -> Headers;
        _ -> error
    end.

has_token(Token, Value) ->
    lists:member(Token, [string:trim(Part) || Part <- string:split(string:lowercase(Value), ",", all)]).

%% What has come of a frame, and the fragments of a message that is not complete.
new() ->
    {<<>>, none}.

%% What the client has said, in order; the last may be that, or why, it is to be closed.
decode(Data, {Buffer, Fragments}) ->
    events(<<Buffer/binary, Data/binary>>, Fragments).

events(<<>>, Fragments) ->
    {[], {<<>>, Fragments}};
events(Buffer, Fragments) ->
    case frame(Buffer) of
        more ->
            {[], {Buffer, Fragments}};
        {close, _} = Close ->
            {[Close], new()};
        {Opcode, Fin, Payload, Rest} ->
            case event(Opcode, Fin, Payload, Fragments) of
                {close, _} = Close ->
                    {[Close], new()};
                {none, Next} ->
                    events(Rest, Next);
                {Event, Next} ->
                    {Events, State} = events(Rest, Next),
                    {[Event | Events], State}
            end
    end.

frame(<<_:1, Reserved:3, _:4, _/binary>>) when Reserved =/= 0 -> failure(1002);
frame(<<_:8, 0:1, _:7, _/binary>>) -> failure(1002);
frame(<<Fin:1, _:3, Opcode:4, _:1, Size:7, _/binary>>) when Opcode >= ?CLOSE, Size > 125 orelse Fin =:= 0 -> failure(1002);
frame(<<Fin:1, _:3, Opcode:4, _:1, 127:7, Size:64, Rest/binary>>) -> payload(Opcode, Fin, Size, Rest);
frame(<<Fin:1, _:3, Opcode:4, _:1, 126:7, Size:16, Rest/binary>>) -> payload(Opcode, Fin, Size, Rest);
frame(<<Fin:1, _:3, Opcode:4, _:1, Size:7, Rest/binary>>) when Size < 126 -> payload(Opcode, Fin, Size, Rest);
frame(_) -> more.

payload(_, _, Size, _) when Size > ?LIMIT ->
    failure(1009);
payload(Opcode, Fin, Size, Buffer) ->
    case Buffer of
        <<Key:4/binary, Masked:Size/binary, Rest/binary>> -> {Opcode, Fin, unmask(Masked, Key), Rest};
        _ -> more
    end.

unmask(Masked, Key) ->
    Size = byte_size(Masked),
    crypto:exor(Masked, binary:part(binary:copy(Key, Size div 4 + 1), 0, Size)).

event(?TEXT, 1, Payload, none) -> text_event(Payload);
event(?TEXT, 0, Payload, none) -> {none, Payload};
event(?BINARY, _, _, none) -> failure(1003);
event(?CONTINUATION, _, Payload, Fragments) when byte_size(Fragments) + byte_size(Payload) > ?LIMIT -> failure(1009);
event(?CONTINUATION, 1, Payload, Fragments) when is_binary(Fragments) -> text_event(<<Fragments/binary, Payload/binary>>);
event(?CONTINUATION, 0, Payload, Fragments) when is_binary(Fragments) -> {none, <<Fragments/binary, Payload/binary>>};
event(?CLOSE, _, <<Code:16, _/binary>>, _) -> {close, <<Code:16>>};
event(?CLOSE, _, <<>>, _) -> {close, <<>>};
event(?PING, _, Payload, Fragments) -> {{ping, Payload}, Fragments};
event(?PONG, _, _, Fragments) -> {none, Fragments};
event(_, _, _, _) -> failure(1002).

text_event(Text) ->
    case unicode:characters_to_binary(Text) of
        Text -> {{text, Text}, none};
        _ -> failure(1007)
    end.

failure(Code) ->
    {close, <<Code:16>>}.

text(Text) -> encode(?TEXT, Text).
pong(Payload) -> encode(?PONG, Payload).
close(Reason) -> encode(?CLOSE, Reason).

encode(Opcode, Payload) ->
    case byte_size(Payload) of
        Size when Size < 126 -> <<1:1, 0:3, Opcode:4, Size, Payload/binary>>;
        Size when Size < 65536 -> <<1:1, 0:3, Opcode:4, 126, Size:16, Payload/binary>>;
        Size -> <<1:1, 0:3, Opcode:4, 127, Size:64, Payload/binary>>
    end.
