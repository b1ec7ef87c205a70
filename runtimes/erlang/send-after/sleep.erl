%% One timer per task, each of which sends the one process a message.
-module(sleep).
-export([main/0]).

main() ->
    case arguments(init:get_plain_arguments()) of
        {ok, Tasks, Seconds} ->
            launch(Tasks, timer:seconds(Seconds)),
            %% A timer cannot count itself in, but all have started by now, and those that are over have sent their message.
            {message_queue_len, Finished} = process_info(self(), message_queue_len),
            io:format("alive ~b~n", [Tasks - Finished]),
            collect(Tasks),
            io:format("done ~b~n", [Tasks]),
            halt(0);
        error ->
            io:format(standard_error, "usage: sleep <tasks> <seconds>: whole numbers, at least one task~n", []),
            halt(2)
    end.

launch(0, _Wait) ->
    ok;
launch(Left, Wait) ->
    erlang:send_after(Wait, self(), done),
    launch(Left - 1, Wait).

collect(0) ->
    ok;
collect(Left) ->
    receive
        done -> collect(Left - 1)
    end.

arguments([A, B]) ->
    case {string:to_integer(A), string:to_integer(B)} of
        {{Tasks, ""}, {Seconds, ""}} when Tasks >= 1, Seconds >= 0 -> {ok, Tasks, Seconds};
        _ -> error
    end;
arguments(_) ->
    error.
