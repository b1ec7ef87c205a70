%% One process per task, created by spawn. All of them share an ETS table.
-module(map).
-export([main/0]).

-define(FILLED, 65536).

main() ->
    [Tasks, Operations] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    Map = ets:new(map, [set, public, {write_concurrency, auto}]),
    lists:foreach(fun(I) -> ets:insert(Map, {key(I), I}) end, lists:seq(0, ?FILLED - 1)),
    io:format("ready~n"),
    launch(0, Tasks, Operations, Map),
    Sum = collect(Tasks, 0),
    io:format("done ~b~ncheck ~b~n", [Operations, Sum + ets:info(Map, size)]),
    halt().

launch(Tasks, Tasks, _Operations, _Map) ->
    ok;
launch(Number, Tasks, Operations, Map) ->
    Parent = self(),
    First = Number * Operations div Tasks,
    Next = (Number + 1) * Operations div Tasks,
    try
        spawn(fun() -> Parent ! {result, task(Map, First, Next, 0)} end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Tasks - Number]),
            io:format("failed ~b~n", [Operations - First]),
            halt(1)
    end,
    launch(Number + 1, Tasks, Operations, Map).

task(_Map, Next, Next, Sum) ->
    Sum;
task(Map, Operation, Next, Sum) ->
    Added = ?FILLED + Operation,
    ets:insert(Map, {key(Added), Added}),
    task(Map, Operation + 1, Next, Sum + ets:lookup_element(Map, key(Operation rem ?FILLED), 2)).

key(I) ->
    I * 2654435761 rem (1 bsl 32).

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {result, Result} -> collect(Left - 1, Sum + Result)
    end.
