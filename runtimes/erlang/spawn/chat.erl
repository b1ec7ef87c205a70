%% One process per connection, which reads from it and writes to it; a room is a process group of pg.
-module(chat).
-export([main/0]).

main() ->
    %% The VM's own way to end at SIGTERM says so on standard output.
    os:set_signal(sigterm, default),
    case arguments(init:get_plain_arguments()) of
        {ok, Address, Port} ->
            {ok, _} = pg:start_link(?MODULE),
            {ok, Listener} = gen_tcp:listen(Port, [{ip, Address}, {backlog, 4096}, {reuseaddr, true} | options()]),
            {ok, Bound} = inet:port(Listener),
            io:format("listening ~b~n", [Bound]),
            spawn(fun() -> accept(Listener) end),
            receive after infinity -> ok end;
        error ->
            io:format(standard_error, "usage: chat <tasks> --listen <host>:<port>: a whole number, at least one task~n", []),
            halt(2)
    end.

options() ->
    [
        binary,
        {packet, http_bin},
        {active, false},
        {buffer, 4096},
        {nodelay, true},
        %% The socket keeps up to 1 MiB that the client has not taken. Who lets it fill is cut off within a millisecond,
        %% so no process waits in send while its mailbox grows. (A timeout of 0 would not close the socket.)
        {high_watermark, 1048576},
        {send_timeout, 1},
        {send_timeout_close, true}
    ].

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            spawn(fun() -> accept(Listener) end),
            connection(Socket);
        {error, econnaborted} ->
            accept(Listener);
        {error, emfile} ->
            io:format(standard_error, "cannot accept: too many open files~n", []),
            halt(1);
        {error, Reason} ->
            io:format(standard_error, "cannot accept: ~tp~n", [Reason]),
            halt(1)
    end.

%% A socket is closed and a member taken out of its room when their process ends.
connection(Socket) ->
    case websocket:accept(Socket) of
        ok -> loop(Socket, websocket:new(), none);
        {error, _} -> ok
    end.

loop(Socket, Decoder, Room) ->
    case inet:setopts(Socket, [{active, once}]) of
        ok -> wait(Socket, Decoder, Room);
        {error, _} -> ok
    end.

wait(Socket, Decoder, Room) ->
    receive
        {frame, Frame} ->
            send(Socket, Frame),
            wait(Socket, Decoder, Room);
        {tcp, Socket, Data} ->
            {Events, Next} = websocket:decode(Data, Decoder),
            loop(Socket, Next, lists:foldl(fun(Event, In) -> handle(Event, Socket, In) end, Room, Events));
        {tcp_closed, Socket} ->
            ok;
        {tcp_error, Socket, _} ->
            ok
    end.

handle({text, <<"join ", Room/binary>>}, Socket, Old) ->
    Old =:= none orelse pg:leave(?MODULE, Old, self()),
    ok = pg:join(?MODULE, Room, self()),
    send(Socket, websocket:text(<<"joined ", Room/binary>>)),
    Room;
handle({text, <<"say ", Text/binary>>}, _Socket, Room) when Room =/= none ->
    Frame = websocket:text(Text),
    [Pid ! {frame, Frame} || Pid <- pg:get_local_members(?MODULE, Room)],
    Room;
handle({text, _}, Socket, _Room) ->
    close(Socket, <<1008:16>>);
handle({ping, Payload}, Socket, Room) ->
    send(Socket, websocket:pong(Payload)),
    Room;
handle({close, Reason}, Socket, _Room) ->
    close(Socket, Reason).

send(Socket, Frame) ->
    case gen_tcp:send(Socket, Frame) of
        ok -> ok;
        {error, _} -> exit(normal)
    end.

close(Socket, Reason) ->
    send(Socket, websocket:close(Reason)),
    exit(normal).

arguments([A, "--listen", Listen]) ->
    case {string:to_integer(A), string:split(Listen, ":", trailing)} of
        {{Tasks, ""}, [Host, B]} when Tasks >= 1 ->
            case {inet:getaddr(Host, inet), string:to_integer(B)} of
                {{ok, Address}, {Port, ""}} when Port >= 0, Port =< 65535 -> {ok, Address, Port};
                _ -> error
            end;
        _ ->
            error
    end;
arguments(_) ->
    error.
