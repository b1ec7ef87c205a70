%% One process per operation, made by spawn, and a message back with its result.
-module(spawn).
-export([main/0]).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Operations} ->
            io:format("ready~n"),
            Sum = rounds(0, Tasks, Operations, 0),
            io:format("done ~b~ncheck ~b~n", [Operations, Sum]),
            halt(0);
        error ->
            io:format(standard_error, "usage: spawn <tasks> <operations>: whole numbers, at least one of each~n", []),
            halt(2)
    end.

rounds(Operations, _Tasks, Operations, Sum) ->
    Sum;
rounds(First, Tasks, Operations, Sum) ->
    Next = min(First + Tasks, Operations),
    try
        launch(First, Next)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks at once: the process limit is reached (+P)~n", [Next - First]),
            io:format("done ~b~nfailed ~b~n", [First, Operations - First]),
            halt(1)
    end,
    rounds(Next, Tasks, Operations, Sum + collect(Next - First, 0)).

launch(Next, Next) ->
    ok;
launch(Number, Next) ->
    Parent = self(),
    spawn(fun() -> Parent ! {result, Number} end),
    launch(Number + 1, Next).

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {result, Number} -> collect(Left - 1, Sum + Number)
    end.

arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Operations, ""}} when Tasks >= 1, Operations >= 1 -> {ok, Tasks, Operations};
        _ -> error
    end;
arguments(_) ->
    error.
