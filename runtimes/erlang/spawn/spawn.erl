%% One process per operation, created by spawn, and a message back with its result.
-module(spawn).
-export([main/0]).

main() ->
    [Tasks, Operations] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    io:format("ready~n"),
    Sum = rounds(0, Tasks, Operations, 0),
    io:format("done ~b~ncheck ~b~n", [Operations, Sum]),
    halt().

rounds(Operations, _Tasks, Operations, Sum) ->
    Sum;
rounds(First, Tasks, Operations, Sum) ->
    Next = min(First + Tasks, Operations),
    try
        launch(First, Next, self())
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks at once: the process limit (+P) is reached~n", [Next - First]),
            io:format("done ~b~nfailed ~b~n", [First, Operations - First]),
            halt(1)
    end,
    rounds(Next, Tasks, Operations, Sum + collect(Next - First, 0)).

launch(Next, Next, _Parent) ->
    ok;
launch(Number, Next, Parent) ->
    spawn(fun() -> Parent ! {result, Number} end),
    launch(Number + 1, Next, Parent).

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {result, Number} -> collect(Left - 1, Sum + Number)
    end.
