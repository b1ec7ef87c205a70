%% One process per task, made by spawn, all of which share a table of ETS.
-module(map).
-export([main/0]).

-define(FILLED, 65536).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Operations} ->
            Map = ets:new(map, [set, public, {write_concurrency, auto}]),
            lists:foreach(fun(I) -> ets:insert(Map, {key(I), I}) end, lists:seq(0, ?FILLED - 1)),
            io:format("ready~n"),
            launch(0, Tasks, Operations, Map),
            Sum = collect(Tasks, 0),
            io:format("done ~b~ncheck ~b~n", [Operations, Sum + ets:info(Map, size)]),
            halt(0);
        error ->
            io:format(standard_error, "usage: map <tasks> <operations>: whole numbers, at least one of each~n", []),
            halt(2)
    end.

launch(Tasks, Tasks, _Operations, _Map) ->
    ok;
launch(Number, Tasks, Operations, Map) ->
    Parent = self(),
    First = Number * Operations div Tasks,
    End = (Number + 1) * Operations div Tasks,
    try
        spawn(fun() -> Parent ! {result, task(Map, First, End, 0)} end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Number + 1, Tasks]),
            io:format("failed ~b~n", [Operations - First]),
            halt(1)
    end,
    launch(Number + 1, Tasks, Operations, Map).

task(_Map, End, End, Sum) ->
    Sum;
task(Map, J, End, Sum) ->
    I = ?FILLED + J,
    ets:insert(Map, {key(I), I}),
    task(Map, J + 1, End, Sum + ets:lookup_element(Map, key(J rem ?FILLED), 2)).

key(I) ->
    I * 2654435761 rem (1 bsl 32).

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {result, Result} -> collect(Left - 1, Sum + Result)
    end.

arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Operations, ""}} when Tasks >= 1, Operations >= 1 -> {ok, Tasks, Operations};
        _ -> error
    end;
arguments(_) ->
    error.
