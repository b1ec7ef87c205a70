%% One process per task, created by spawn, which wakes once in every period.
-module(tick).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).
-define(BUCKETS, 32).

main() ->
    [A, B | Rest] = init:get_plain_arguments(),
    {Tasks, Seconds} = {list_to_integer(A), list_to_integer(B)},
    Defaults = #{"--period-ms" => 1000, "--hogs" => 0, "--hog-ms" => 10},
    #{"--period-ms" := Period, "--hogs" := Hogs, "--hog-ms" := Hog} = options(Rest, Defaults),
    Start = now_us(),
    %% Persistent terms are not copied: they add nothing to a process.
    persistent_term:put(?MODULE, {Tasks, atomics:new(2, []), counters:new(?BUCKETS, [])}),
    persistent_term:put(times, {Start, Start + Seconds * 1000000, Period * 1000, Hog * 1000}),
    launch(0, Tasks),
    Parent = self(),
    [spawn(fun() -> compute(Parent) end) || _ <- lists:seq(1, Hogs)],
    collect(Tasks + Hogs),
    {_, _, Late} = persistent_term:get(?MODULE),
    Counts = [[" ", integer_to_list(counters:get(Late, Bucket))] || Bucket <- lists:seq(1, ?BUCKETS)],
    io:format("done ~b~nhistogram late_us~s~n", [finished(), Counts]),
    halt().

%% Each name must have a default.
options([Name, Value | Rest], Options) -> options(Rest, Options#{Name := list_to_integer(Value)});
options([], Options) -> Options.

launch(Tasks, Tasks) ->
    ok;
launch(Number, Tasks) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, Number) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Tasks - Number]),
            io:format("failed ~b~n", [Tasks - Number]),
            halt(1)
    end,
    launch(Number + 1, Tasks).

collect(0) ->
    ok;
collect(Left) ->
    receive
        done -> collect(Left - 1)
    end.

task(Parent, Number) ->
    {Tasks, Counters, _} = persistent_term:get(?MODULE),
    {Start, End, Period, _} = persistent_term:get(times),
    Due = next_due(Start + Period * Number div Tasks, Period, now_us()),
    case atomics:add_get(Counters, ?STARTED, 1) of
        Tasks -> io:format("alive ~b~n", [Tasks - finished()]);
        _ -> ok
    end,
    beat(Due, End, Period),
    sleep_until(End),
    atomics:add(Counters, ?FINISHED, 1),
    Parent ! done.

next_due(Due, Period, Now) when Due < Now -> next_due(Due + Period, Period, Now);
next_due(Due, _, _) -> Due.

beat(Due, End, Period) when Due < End ->
    sleep_until(Due),
    case now_us() of
        Now when Now < End ->
            count(Now - Due),
            beat(Due + Period, End, Period);
        _ ->
            ok
    end;
beat(_, _, _) ->
    ok.

%% Timers count whole milliseconds.
sleep_until(Instant) ->
    case Instant - now_us() of
        Left when Left > 0 -> timer:sleep((Left + 999) div 1000);
        _ -> ok
    end.

%% Bucket B counts ticks that were less than 2^B us late, and at least half of that.
count(Us) ->
    {Tasks, Counters, Late} = persistent_term:get(?MODULE),
    case atomics:get(Counters, ?STARTED) of
        Tasks -> counters:add(Late, min(bits(Us), ?BUCKETS - 1) + 1, 1);
        _ -> ok
    end.

bits(0) -> 0;
bits(Us) -> 1 + bits(Us bsr 1).

compute(Parent) ->
    {_, End, _, Hog} = persistent_term:get(times),
    case now_us() of
        Now when Now < End ->
            spin(Now + Hog),
            erlang:yield(),
            compute(Parent);
        _ ->
            Parent ! done
    end.

spin(Until) ->
    case now_us() of
        Now when Now < Until -> spin(Until);
        _ -> ok
    end.

now_us() ->
    erlang:monotonic_time(microsecond).

finished() ->
    {_, Counters, _} = persistent_term:get(?MODULE),
    atomics:get(Counters, ?FINISHED).
