%% One process per task, created by spawn, which passes the tokens in its mailbox to the next process.
-module(ring).
-export([main/0]).

main() ->
    [Tasks, Operations, Tokens] = arguments(init:get_plain_arguments()),
    %% A persistent term is not copied: the counter adds nothing to a process.
    persistent_term:put(?MODULE, {Tasks, atomics:new(1, [])}),
    Pids = [First | Rest] = launch(Tasks, self(), []),
    lists:zipwith(fun(Pid, Next) -> Pid ! {next, Next} end, Pids, Rest ++ [First]),
    receive
        alive -> io:format("ready~n")
    end,
    Ring = list_to_tuple(Pids),
    lists:foreach(
        fun(Token) ->
            Hops = (Operations + Tokens - 1 - Token) div Tokens,
            element(Token * Tasks div Tokens + 1, Ring) ! Hops
        end,
        lists:seq(0, Tokens - 1)
    ),
    io:format("done ~b~ncheck ~b~n", [Operations, collect(Tokens, 0)]),
    halt().

arguments([Tasks, Operations]) -> arguments([Tasks, Operations, "--tokens", "1"]);
arguments([Tasks, Operations, "--tokens", Tokens]) -> [list_to_integer(Word) || Word <- [Tasks, Operations, Tokens]].

launch(0, _Main, Pids) ->
    Pids;
launch(Left, Main, Pids) ->
    try spawn(fun() -> task(Left - 1, Main) end) of
        Pid -> launch(Left - 1, Main, [Pid | Pids])
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Left]),
            io:format("failed ~b~n", [Left]),
            halt(1)
    end.

task(Number, Main) ->
    receive
        {next, Next} ->
            count_in(Main),
            pass(Number, Next, Main)
    end.

%% A token is the number of hops that it has left.
pass(Number, Next, Main) ->
    receive
        0 -> Main ! {arrived, Number};
        Hops -> Next ! Hops - 1
    end,
    pass(Number, Next, Main).

count_in(Main) ->
    {Tasks, Counters} = persistent_term:get(?MODULE),
    case atomics:add_get(Counters, 1, 1) of
        Tasks ->
            io:format("alive ~b~n", [Tasks]),
            Main ! alive;
        _ ->
            ok
    end.

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {arrived, Number} -> collect(Left - 1, Sum + Number)
    end.
