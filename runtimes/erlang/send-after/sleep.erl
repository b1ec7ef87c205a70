%% One timer per task, which sends a message to one process for all.
-module(sleep).
-export([main/0]).

main() ->
    [Tasks, Seconds] = [list_to_integer(Argument) || Argument <- init:get_plain_arguments()],
    launch(Tasks, timer:seconds(Seconds)),
    %% A timer has no code that could count itself in. All have started by now, and those that ended have sent a message.
    {message_queue_len, Finished} = process_info(self(), message_queue_len),
    io:format("alive ~b~n", [Tasks - Finished]),
    collect(Tasks),
    io:format("done ~b~n", [Tasks]),
    halt().

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
