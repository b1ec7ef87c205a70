%% One process per task, hibernating while it waits: its stack and heap are then shrunk to what it still needs.
-module(sleep).
-export([main/0, due/1]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Seconds} ->
            %% A persistent term, so that proving the tasks alive adds nothing to what a task holds.
            persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
            launch(Tasks, Tasks, timer:seconds(Seconds)),
            collect(Tasks),
            io:format("done ~b~n", [finished()]),
            halt(0);
        error ->
            io:format(standard_error, "usage: sleep <tasks> <seconds>: whole numbers, at least one task~n", []),
            halt(2)
    end.

launch(0, _Tasks, _Wait) ->
    ok;
launch(Left, Tasks, Wait) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, Wait) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Tasks - Left + 1, Tasks]),
            io:format("done ~b~nfailed ~b~n", [finished(), Left]),
            halt(1)
    end,
    launch(Left - 1, Tasks, Wait).

collect(0) ->
    ok;
collect(Left) ->
    receive
        done -> collect(Left - 1)
    end.

task(Parent, Wait) ->
    count_in(),
    erlang:send_after(Wait, self(), due),
    erlang:hibernate(?MODULE, due, [Parent]).

due(Parent) ->
    receive
        due -> ok
    end,
    count_out(),
    Parent ! done.

count_in() ->
    {Tasks, Counters} = persistent_term:get(?MODULE),
    case atomics:add_get(Counters, ?STARTED, 1) of
        Tasks -> io:format("alive ~b~n", [Tasks - finished()]);
        _ -> ok
    end.

count_out() ->
    {_Tasks, Counters} = persistent_term:get(?MODULE),
    atomics:add(Counters, ?FINISHED, 1).

finished() ->
    {_Tasks, Counters} = persistent_term:get(?MODULE),
    atomics:get(Counters, ?FINISHED).

arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Seconds, ""}} when Tasks >= 1, Seconds >= 0 -> {ok, Tasks, Seconds};
        _ -> error
    end;
arguments(_) ->
    error.
