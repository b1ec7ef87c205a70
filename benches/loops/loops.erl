%% Loops by processes: nanoseconds an operation.
-module(loops).
-export([main/1]).

-define(ROUND, 1_000_000).

main([Loop]) ->
    {Microseconds, _} = timer:tc(fun() -> run(Loop) end),
    io:format("~.1f~n", [Microseconds * 1000 / ?ROUND]),
    halt().

run('spawn-one') -> spawn_rounds(?ROUND, 1);
run('spawn-thousand') -> spawn_rounds(?ROUND div 1000, 1000);
run(hop) ->
    Other = spawn_link(fun answer/0),
    hop(?ROUND div 2, Other);
run(pair) ->
    Entries = ets:new(entries, [public, {read_concurrency, true}, {write_concurrency, true}]),
    [ets:insert(Entries, {key(I), I}) || I <- lists:seq(0, 65_535)],
    pair(0, Entries, 0);
run(leaf) ->
    499_999_500_000 = node(0, ?ROUND).

spawn_rounds(0, _) -> ok;
spawn_rounds(Rounds, AtOnce) ->
    Parent = self(),
    [spawn(fun() -> Parent ! ended end) || _ <- lists:seq(1, AtOnce)],
    [receive ended -> ok end || _ <- lists:seq(1, AtOnce)],
    spawn_rounds(Rounds - 1, AtOnce).

answer() ->
    receive
        {From, Token} -> From ! Token, answer()
    end.

hop(0, _) -> ok;
hop(N, Other) ->
    Other ! {self(), N},
    receive N -> hop(N - 1, Other) end.

key(I) -> I * 2_654_435_761 band 16#FFFFFFFF.

pair(?ROUND, _, Sum) -> Sum;
pair(J, Entries, Sum) ->
    ets:insert(Entries, {key(65_536 + J), 65_536 + J}),
    [{_, Value}] = ets:lookup(Entries, key(J rem 65_536)),
    pair(J + 1, Entries, Sum + Value).

%% As in atemerev/skynet: every node sends its sum to its parent.
node(First, 1) -> First;
node(First, Leaves) ->
    Parent = self(),
    Share = Leaves div 10,
    [spawn(fun() -> Parent ! node(First + I * Share, Share) end) || I <- lists:seq(0, 9)],
    lists:sum([receive Sum -> Sum end || _ <- lists:seq(1, 10)]).
