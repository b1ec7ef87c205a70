%% One process per task, created by spawn, which waits for one message.
-module(park).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    Start = erlang:monotonic_time(millisecond),
    [Tasks, Seconds] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    %% A persistent term is not copied: the counters add nothing to a process.
    persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
    Pids = launch(Tasks, self(), []),
    Due = Start + timer:seconds(Seconds),
    timer:sleep(max(Due - erlang:monotonic_time(millisecond), 0)),
    lists:foreach(fun(Pid) -> Pid ! wake end, Pids),
    collect(Tasks),
    io:format("done ~b~n", [finished()]),
    halt().

launch(0, _Parent, Pids) ->
    Pids;
launch(Left, Parent, Pids) ->
    try spawn(fun() -> task(Parent) end) of
        Pid -> launch(Left - 1, Parent, [Pid | Pids])
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Left]),
            io:format("failed ~b~n", [Left]),
            halt(1)
    end.

collect(0) ->
    ok;
collect(Left) ->
    receive
        done -> collect(Left - 1)
    end.

task(Parent) ->
    count_in(),
    receive
        wake -> ok
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
