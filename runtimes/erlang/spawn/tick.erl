%% One process per task, made by spawn, each a heartbeat: it wakes once in every period.
-module(tick).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).
-define(BUCKETS, 32).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Seconds, #{'period-ms' := Period, hogs := Hogs, 'hog-ms' := Hog}} ->
            Begin = now_us(),
            %% Persistent terms, so that the proof adds nothing to what a task holds.
            persistent_term:put(?MODULE, {Tasks, atomics:new(2, []), counters:new(?BUCKETS, [])}),
            persistent_term:put(times, {Begin, Begin + Seconds * 1000000, Period * 1000, Hog * 1000}),
            launch(0, Tasks),
            Parent = self(),
            [spawn(fun() -> compute(Parent) end) || _ <- lists:seq(1, Hogs)],
            collect(Tasks + Hogs),
            {_, _, Late} = persistent_term:get(?MODULE),
            Counts = [[" ", integer_to_list(counters:get(Late, Bucket))] || Bucket <- lists:seq(1, ?BUCKETS)],
            io:format("done ~b~nhistogram late_us~s~n", [finished(), Counts]),
            halt(0);
        error ->
            io:format(standard_error, "usage: tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: whole numbers, at least one task and millisecond~n", []),
            halt(2)
    end.

launch(Tasks, Tasks) ->
    ok;
launch(Number, Tasks) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, Number) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Number + 1, Tasks]),
            io:format("done ~b~nfailed ~b~n", [finished(), Tasks - Number]),
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
    {Begin, End, Period, _} = persistent_term:get(times),
    Due = to_come(Begin + Period * Number div Tasks, Period, now_us()),
    case atomics:add_get(Counters, ?STARTED, 1) of
        Tasks -> io:format("alive ~b~n", [Tasks - finished()]);
        _ -> ok
    end,
    beat(Due, End, Period),
    sleep_until(End),
    atomics:add(Counters, ?FINISHED, 1),
    Parent ! done.

to_come(Due, Period, Now) when Due < Now -> to_come(Due + Period, Period, Now);
to_come(Due, _, _) -> Due.

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

%% A timer is of whole milliseconds.
sleep_until(Instant) ->
    case Instant - now_us() of
        Left when Left > 0 -> timer:sleep((Left + 999) div 1000);
        _ -> ok
    end.

%% Bucket B: ticks that were late by less than 2^B us, and not less than half of that.
count(Us) ->
    {Tasks, Counters, Late} = persistent_term:get(?MODULE),
    case atomics:get(Counters, ?STARTED) of
        Tasks -> counters:add(Late, min(bits(Us, 0), ?BUCKETS - 1) + 1, 1);
        _ -> ok
    end.

bits(Us, Bits) when Us > 0 -> bits(Us bsr 1, Bits + 1);
bits(_, Bits) -> Bits.

%% Computes, yields, and so on.
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

%% A process waits at most 2^32 - 1 ms.
arguments([A, B | Options]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Seconds, ""}} when Tasks >= 1, Seconds >= 0, Seconds =< 4294967 ->
            options(Options, Tasks, Seconds, #{'period-ms' => 1000, hogs => 0, 'hog-ms' => 10});
        _ ->
            error
    end;
arguments(_) ->
    error.

options([], Tasks, Seconds, Given) ->
    {ok, Tasks, Seconds, Given};
options(["--" ++ Name, Text | Rest], Tasks, Seconds, Given) ->
    case {[Key || Key <- maps:keys(Given), atom_to_list(Key) =:= Name], string:to_integer(Text)} of
        {[hogs], {Number, ""}} when Number >= 0 -> options(Rest, Tasks, Seconds, Given#{hogs := Number});
        {[Key], {Number, ""}} when Number >= 1 -> options(Rest, Tasks, Seconds, Given#{Key := Number});
        _ -> error
    end;
options(_, _Tasks, _Seconds, _Given) ->
    error.
