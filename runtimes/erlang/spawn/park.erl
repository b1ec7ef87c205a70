%% One process per task, made by spawn, each waiting for one message.
-module(park).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    Start = erlang:monotonic_time(millisecond),
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Seconds} ->
            %% A persistent term, so that proving the tasks alive adds nothing to what a task holds.
            persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
            Pids = launch(Tasks, Tasks, []),
            Due = Start + timer:seconds(Seconds),
            timer:sleep(max(Due - erlang:monotonic_time(millisecond), 0)),
            lists:foreach(fun(Pid) -> Pid ! wake end, Pids),
            collect(Tasks),
            io:format("done ~b~n", [finished()]),
            halt(0);
        error ->
            io:format(standard_error, "usage: park <tasks> <seconds>: whole numbers, at least one task~n", []),
            halt(2)
    end.

launch(0, _Tasks, Pids) ->
    Pids;
launch(Left, Tasks, Pids) ->
    Parent = self(),
    Pid =
        try
            spawn(fun() -> task(Parent) end)
        catch
            error:system_limit ->
                io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Tasks - Left + 1, Tasks]),
                io:format("done ~b~nfailed ~b~n", [finished(), Left]),
                halt(1)
        end,
    launch(Left - 1, Tasks, [Pid | Pids]).

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

%% A process waits at most 2^32 - 1 ms.
arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Seconds, ""}} when Tasks >= 1, Seconds >= 0, Seconds =< 4294967 -> {ok, Tasks, Seconds};
        _ -> error
    end;
arguments(_) ->
    error.
