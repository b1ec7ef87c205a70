%% One process per task, created by spawn.
-module(sleep).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    [Tasks, Seconds] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    %% A persistent term is not copied: the counters add nothing to a process.
    persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
    launch(Tasks, self(), timer:seconds(Seconds)),
    collect(Tasks),
    io:format("done ~b~n", [finished()]),
    halt().

launch(0, _Parent, _Wait) ->
    ok;
launch(Left, Parent, Wait) ->
    try
        spawn(fun() -> task(Parent, Wait) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Left]),
            io:format("failed ~b~n", [Left]),
            halt(1)
    end,
    launch(Left - 1, Parent, Wait).

collect(0) ->
    ok;
collect(Left) ->
    receive
        done -> collect(Left - 1)
    end.

task(Parent, Wait) ->
    count_in(),
    timer:sleep(Wait),
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
