%% One process per task, made by spawn, each holding bytes of its own while it waits.
-module(state).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Seconds, #{bytes := Bytes, depth := Depth}} ->
            %% Persistent terms, so that the proof and the pattern add nothing to what a task holds.
            persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
            %% Byte k of task i is (i + k) rem 251: a part of one pattern.
            persistent_term:put(pattern, <<<<(K rem 251)>> || K <- lists:seq(0, Bytes + 249)>>),
            launch(0, Tasks, Bytes, Depth, timer:seconds(Seconds)),
            Sum = collect(Tasks, 0),
            io:format("done ~b~ncheck ~b~n", [finished(), Sum]),
            halt(0);
        error ->
            io:format(standard_error, "usage: state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: whole numbers, at least one task, byte and call~n", []),
            halt(2)
    end.

launch(Tasks, Tasks, _Bytes, _Depth, _Wait) ->
    ok;
launch(Number, Tasks, Bytes, Depth, Wait) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, Number, Bytes, Depth, Wait) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start task ~b of ~b: the process limit is reached (+P)~n", [Number + 1, Tasks]),
            io:format("done ~b~nfailed ~b~n", [finished(), Tasks - Number]),
            halt(1)
    end,
    launch(Number + 1, Tasks, Bytes, Depth, Wait).

collect(0, Sum) ->
    Sum;
collect(Left, Sum) ->
    receive
        {done, Part} -> collect(Left - 1, Sum + Part)
    end.

task(Parent, Number, Bytes, Depth, Wait) ->
    Sum = hold(Number, Bytes, Depth, Wait),
    count_out(),
    Parent ! {done, Sum}.

%% Fills the bytes of a task so many calls down, waits, and sums them.
hold(Number, Bytes, 1, Wait) ->
    %% A copy: what is cut out of a binary would refer to the whole.
    State = binary:copy(binary:part(persistent_term:get(pattern), Number rem 251, Bytes)),
    count_in(),
    timer:sleep(Wait),
    sum(State, 0);
hold(Number, Bytes, Calls, Wait) ->
    %% What comes after the call keeps its frame.
    Sum = hold(Number, Bytes, Calls - 1, Wait),
    Sum + 0.

sum(<<Byte, Rest/binary>>, Sum) -> sum(Rest, Sum + Byte);
sum(<<>>, Sum) -> Sum.

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
arguments([A, B | Options]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Seconds, ""}} when Tasks >= 1, Seconds >= 0, Seconds =< 4294967 ->
            options(Options, Tasks, Seconds, #{bytes => 1024, depth => 1});
        _ ->
            error
    end;
arguments(_) ->
    error.

options([], Tasks, Seconds, Given) ->
    {ok, Tasks, Seconds, Given};
options(["--" ++ Name, Text | Rest], Tasks, Seconds, Given) when Name =:= "bytes"; Name =:= "depth" ->
    case string:to_integer(Text) of
        {Number, ""} when Number >= 1 -> options(Rest, Tasks, Seconds, Given#{list_to_atom(Name) := Number});
        _ -> error
    end;
options(_, _Tasks, _Seconds, _Given) ->
    error.
