%% One process per node of a tree, made by spawn, and a message to its parent with its sum.
-module(skynet).
-export([main/0]).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Operations} ->
            register(main, self()),
            io:format("ready~n"),
            Sum = trees(0, Tasks, Operations, 0),
            io:format("done ~b~ncheck ~b~n", [Operations, Sum]),
            halt(0);
        error ->
            io:format(standard_error, "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them~n", []),
            halt(2)
    end.

trees(Operations, _Tasks, Operations, Sum) ->
    Sum;
trees(Done, Tasks, Operations, Sum) ->
    launch(0, Tasks),
    receive
        {sum, Tree} ->
            trees(Done + Tasks, Tasks, Operations, Sum + Tree);
        refused ->
            io:format(standard_error, "cannot start a tree of ~b tasks: the process limit is reached (+P)~n", [Tasks]),
            io:format("done ~b~nfailed ~b~n", [Done, Operations - Done]),
            halt(1)
    end.

task(Parent, First, 1) ->
    Parent ! {sum, First};
task(Parent, First, Leaves) ->
    Size = Leaves div 10,
    lists:foreach(fun(Child) -> launch(First + Child * Size, Size) end, lists:seq(0, 9)),
    Parent ! {sum, collect(10, 0)}.

launch(First, Leaves) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, First, Leaves) end)
    catch
        error:system_limit -> main ! refused
    end.

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {sum, Child} -> collect(Left - 1, Sum + Child)
    end.

arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Operations, ""}} when Tasks >= 1, Operations >= 1, Operations rem Tasks =:= 0 ->
            case is_power_of_ten(Tasks) of
                true -> {ok, Tasks, Operations};
                false -> error
            end;
        _ ->
            error
    end;
arguments(_) ->
    error.

is_power_of_ten(1) -> true;
is_power_of_ten(Number) when Number rem 10 =:= 0 -> is_power_of_ten(Number div 10);
is_power_of_ten(_) -> false.
