%% One process per task, created by spawn, which keeps bytes of its own while it waits.
-module(state).
-export([main/0]).

-define(STARTED, 1).
-define(FINISHED, 2).

main() ->
    [A, B | Rest] = init:get_plain_arguments(),
    {Tasks, Seconds} = {list_to_integer(A), list_to_integer(B)},
    #{"--bytes" := Bytes, "--depth" := Depth} = options(Rest, #{"--bytes" => 1024, "--depth" => 1}),
    %% Persistent terms are not copied: counters and pattern add nothing to a process.
    persistent_term:put(?MODULE, {Tasks, atomics:new(2, [])}),
    %% Byte k of task i is (i + k) rem 251: a part of one pattern.
    persistent_term:put(pattern, <<<<(K rem 251)>> || K <- lists:seq(0, Bytes + 249)>>),
    launch(0, Tasks, Bytes, Depth, timer:seconds(Seconds)),
    Sum = collect(Tasks, 0),
    io:format("done ~b~ncheck ~b~n", [finished(), Sum]),
    halt().

%% Each name must have a default.
options([Name, Value | Rest], Options) -> options(Rest, Options#{Name := list_to_integer(Value)});
options([], Options) -> Options.

launch(Tasks, Tasks, _Bytes, _Depth, _Wait) ->
    ok;
launch(Number, Tasks, Bytes, Depth, Wait) ->
    Parent = self(),
    try
        spawn(fun() -> task(Parent, Number, Bytes, Depth, Wait) end)
    catch
        error:system_limit ->
            io:format(standard_error, "cannot start ~b tasks: the process limit (+P) is reached~n", [Tasks - Number]),
            io:format("failed ~b~n", [Tasks - Number]),
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

%% Fills the task's bytes Calls calls deep, waits, and sums them.
hold(Number, Bytes, 1, Wait) ->
    %% Copied, as a part of a binary refers to the whole.
    State = binary:copy(binary:part(persistent_term:get(pattern), Number rem 251, Bytes)),
    count_in(),
    timer:sleep(Wait),
    sum(State, 0);
hold(Number, Bytes, Calls, Wait) ->
    %% No tail call, so that each call keeps its frame.
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
