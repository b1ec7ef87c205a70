%% One process per connection, which accepts it, leaves the listener to a new process, and sends back what it receives.
-module(echo).
-export([main/0]).

main() ->
    %% The VM's own handler of SIGTERM prints a line.
    os:set_signal(sigterm, default),
    [Tasks | Rest] = init:get_plain_arguments(),
    _ = list_to_integer(Tasks),
    {ok, Listener} = listen(Rest, options()),
    {ok, Port} = inet:port(Listener),
    io:format("listening ~b~n", [Port]),
    spawn(fun() -> accept(Listener) end),
    receive after infinity -> ok end.

options() ->
    %% A client that has closed its side still gets its answer: the end of input must not close the socket.
    [binary, {active, false}, {backlog, 4096}, {buffer, 4096}, {nodelay, true}, {exit_on_close, false}].

listen(["--listen", HostPort], Options) ->
    [Host, Port] = string:split(HostPort, ":", trailing),
    {ok, Address} = inet:getaddr(Host, inet),
    gen_tcp:listen(list_to_integer(Port), [{ip, Address}, {reuseaddr, true} | Options]).

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            spawn(fun() -> accept(Listener) end),
            echo(Socket);
        {error, econnaborted} ->
            accept(Listener);
        {error, Reason} ->
            io:format(standard_error, "cannot accept: ~ts~n", [inet:format_error(Reason)]),
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
