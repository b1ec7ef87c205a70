%% One process per connection, which accepts it, leaves the listener to the next one, and sends back what comes.
-module(echo).
-export([main/0]).

main() ->
    %% The VM's own way to end at SIGTERM says so on standard output.
    os:set_signal(sigterm, default),
    case arguments(init:get_plain_arguments()) of
        {ok, Address, Port} ->
            %% A client that has closed its side is still answered, so its end must not close the socket.
            Options = [binary, {active, false}, {buffer, 4096}, {nodelay, true}, {exit_on_close, false}],
            {ok, Listener} = gen_tcp:listen(Port, [{ip, Address}, {backlog, 4096}, {reuseaddr, true} | Options]),
            {ok, Bound} = inet:port(Listener),
            io:format("listening ~b~n", [Bound]),
            spawn(fun() -> accept(Listener) end),
            receive after infinity -> ok end;
        error ->
            io:format(standard_error, "usage: echo <tasks> --listen <host>:<port>: a whole number, at least one task~n", []),
            halt(2)
    end.

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            spawn(fun() -> accept(Listener) end),
            echo(Socket);
        {error, econnaborted} ->
            accept(Listener);
        {error, emfile} ->
            io:format(standard_error, "cannot accept: too many open files~n", []),
            halt(1);
        {error, Reason} ->
            io:format(standard_error, "cannot accept: ~tp~n", [Reason]),
            halt(1)
    end.

echo(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Data} ->
            case gen_tcp:send(Socket, Data) of
                ok -> echo(Socket);
                {error, _} -> gen_tcp:close(Socket)
            end;
        {error, _} ->
            gen_tcp:close(Socket)
    end.

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
