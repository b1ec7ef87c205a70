%% A ring of processes, made by spawn, each of which waits for tokens in its mailbox.
-module(ring).
-export([main/0]).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Operations, Tokens} ->
            %% A persistent term, so that proving the tasks alive adds nothing to what a task holds.
            persistent_term:put(?MODULE, {Tasks, atomics:new(1, [])}),
            Pids = [First | Rest] = launch(Tasks, Tasks, []),
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
            Sum = collect(Tokens, 0),
            io:format("done ~b~ncheck ~b~n", [Operations, Sum]),
            halt(0);
        error ->
            io:format(standard_error, "usage: ring <tasks> <operations> [--tokens <tokens>]: at least two tasks, and two for each token~n", []),
            halt(2)
    end.

launch(0, _Tasks, Pids) ->
    Pids;
launch(Left, Tasks, Pids) ->
    Main = self(),
    Pid =
        try
            spawn(fun() -> task(Left - 1, Main) end)
        catch
            error:system_limit ->
                io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Tasks - Left + 1, Tasks]),
                io:format("failed ~b~n", [Left]),
                halt(1)
        end,
    launch(Left - 1, Tasks, [Pid | Pids]).

task(Number, Main) ->
    receive
        {next, Next} ->
            count_in(Main),
            pass(Number, Next, Main)
    end.

%% A token is the number of its hops that are left.
pass(Number, Next, Main) ->
    receive
        0 -> Main ! {noted, Number};
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
        {noted, Number} -> collect(Left - 1, Sum + Number)
    end.

arguments([A, B]) ->
    arguments([A, B, "--tokens", "1"]);
arguments([A, B, "--tokens", C]) ->
    case {string:to_integer(A), string:to_integer(B), string:to_integer(C)} of
        {{Tasks, ""}, {Operations, ""}, {Tokens, ""}} when Operations >= 1, Tokens >= 1, Tokens =< Tasks div 2 ->
            {ok, Tasks, Operations, Tokens};
        _ ->
            error
    end;
arguments(_) ->
    error.
