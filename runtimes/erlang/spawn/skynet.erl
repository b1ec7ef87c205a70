%% One process per node of a tree, created by spawn, which sends its sum to its parent.
-module(skynet).
-export([main/0]).

main() ->
    [Tasks, Operations] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    register(main, self()),
    io:format("ready~n"),
    Sum = trees(0, Tasks, Operations, 0),
    io:format("done ~b~ncheck ~b~n", [Operations, Sum]),
    halt().

trees(Operations, _Tasks, Operations, Sum) ->
    Sum;
trees(Done, Tasks, Operations, Sum) ->
    launch(0, Tasks),
    receive
        {sum, Tree} ->
            trees(Done + Tasks, Tasks, Operations, Sum + Tree);
        system_limit ->
            io:format(standard_error, "cannot start a tree of ~b tasks: the process limit (+P) is reached~n", [Tasks]),
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
        error:system_limit -> main ! system_limit
    end.

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {sum, Child} -> collect(Left - 1, Sum + Child)
    end.
