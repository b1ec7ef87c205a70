%% One process per connection, which reads and writes. A room is a process group of pg.
-module(chat).
-export([main/0]).

main() ->
    %% The VM's own handler of SIGTERM prints a line.
    os:set_signal(sigterm, default),
    [Tasks | Rest] = init:get_plain_arguments(),
    _ = list_to_integer(Tasks),
    {ok, _} = pg:start_link(?MODULE),
    {ok, Listener} = listen(Rest, options()),
    {ok, Port} = inet:port(Listener),
    io:format("listening ~b~n", [Port]),
    spawn(fun() -> accept(Listener) end),
    receive after infinity -> ok end.

options() ->
    [
        binary,
        {packet, http_bin},
        {active, false},
        {backlog, 4096},
        {buffer, 4096},
        {nodelay, true},
        %% The socket queues up to 1 MiB for a client that does not read. When that is full, send fails after 1 ms and
        %% closes the socket, so a mailbox has no time to grow. (A timeout of 0 would not close the socket.)
        {high_watermark, 1048576},
        {send_timeout, 1},
        {send_timeout_close, true}
    ].

listen(["--listen", HostPort], Options) ->
    [Host, Port] = string:split(HostPort, ":", trailing),
    {ok, Address} = inet:getaddr(Host, inet),
    gen_tcp:listen(list_to_integer(Port), [{ip, Address}, {reuseaddr, true} | Options]).

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            spawn(fun() -> accept(Listener) end),
            connection(Socket);
        {error, econnaborted} ->
            accept(Listener);
        {error, Reason} ->
            io:format(standard_error, "cannot accept: ~ts~n", [inet:format_error(Reason)]),
            halt(1)
    end.

%% When the process ends, its socket is closed and pg removes it from its room.
connection(Socket) ->
    case websocket:accept(Socket) of
        ok -> loop(Socket, <<>>, none, none);
        {error, _} -> ok
    end.

%% Buffer is input that is not decoded yet, Message the fragments of a message that is incomplete.
loop(Socket, Buffer, Message, Room) ->
    case websocket:decode(Buffer, Message) of
        {more, Rest} ->
            case inet:setopts(Socket, [{active, once}]) of
                ok -> wait(Socket, Rest, Message, Room);
                {error, _} -> ok
            end;
        {incomplete, Fragments, Rest} ->
            loop(Socket, Rest, Fragments, Room);
        {{ping, Payload}, Rest} ->
            send(Socket, websocket:pong(Payload)),
            loop(Socket, Rest, Message, Room);
        {{text, Text}, Rest} ->
            loop(Socket, Rest, none, handle(Text, Socket, Room));
        {close, Reason} ->
            gen_tcp:send(Socket, websocket:close(Reason))
    end.

wait(Socket, Buffer, Message, Room) ->
    receive
        {frame, Frame} ->
            send(Socket, Frame),
            wait(Socket, Buffer, Message, Room);
        {tcp, Socket, Data} ->
            loop(Socket, <<Buffer/binary, Data/binary>>, Message, Room);
        {tcp_closed, Socket} ->
            ok;
        {tcp_error, Socket, _} ->
            ok
    end.

handle(<<"join ", Room/binary>>, Socket, Old) ->
    Old =:= none orelse pg:leave(?MODULE, Old, self()),
    ok = pg:join(?MODULE, Room, self()),
    send(Socket, websocket:text(<<"joined ", Room/binary>>)),
    Room;
handle(<<"say ", Text/binary>>, _Socket, Room) when Room =/= none ->
    Frame = websocket:text(Text),
    [Pid ! {frame, Frame} || Pid <- pg:get_local_members(?MODULE, Room)],
    Room;
handle(_, Socket, _Room) ->
    gen_tcp:send(Socket, websocket:close(<<1008:16>>)),
    exit(normal).

send(Socket, Frame) ->
    case gen_tcp:send(Socket, Frame) of
        ok -> ok;
        {error, _} -> exit(normal)
    end.
