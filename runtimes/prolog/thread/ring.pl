% One thread of the operating system per place in a ring, each of which takes tokens from its own message queue. The
% first message tells it who is next.

:- initialization(main, main).

main(Words) :-
    (   append(Numbers, ['--tokens', Tokens], Words)
    ->  append(Numbers, [Tokens], All)
    ;   append(Words, ['1'], All)
    ),
    maplist(whole_number, All, [Tasks, Operations, Count]),
    Operations >= 1, Count >= 1, 2 * Count =< Tasks,
    !,
    run(Tasks, Operations, Count).
main(_) :-
    format(user_error, "usage: ring.pl <tasks> <operations> [--tokens <tokens>]: \c
                        whole numbers, at least two tasks for each token~n", []),
    halt(2).

run(Tasks, Operations, Tokens) :-
    thread_self(Main),
    Last is Tasks - 1,
    numlist(0, Last, Numbers),
    maplist(launch(Main, Tasks), Numbers, Threads),
    Threads = [First | Rest],
    append(Rest, [First], Followers),
    maplist(introduce, Threads, Followers),
    thread_get_message(all_started),
    format("ready~n"),
    flush_output,
    Ring =.. [ring | Threads],
    forall(between(1, Tokens, Token), put_in(Ring, Tasks, Operations, Tokens, Token)),
    findall(Number, (between(1, Tokens, _), thread_get_message(noted(Number))), Noted),
    sum_list(Noted, Sum),
    format("done ~d~ncheck ~d~n", [Operations, Sum]),
    flush_output,
    maplist(end, Threads),
    maplist(thread_join, Threads).

launch(Main, Tasks, Number, Thread) :-
    catch(thread_create(task(Main, Tasks, Number), Thread), Error, give_up(Tasks, Number, Error)).

introduce(Thread, Next) :-
    thread_send_message(Thread, next(Next)).

% The first tokens make one hop more, where the operations cannot be shared evenly.
put_in(Ring, Tasks, Operations, Tokens, Token) :-
    Place is (Token - 1) * Tasks // Tokens + 1,
    Hops is (Operations + Tokens - Token) // Tokens,
    arg(Place, Ring, Thread),
    thread_send_message(Thread, token(Hops)).

end(Thread) :-
    thread_send_message(Thread, token(end)).

task(Main, Tasks, Number) :-
    flag(started, Started, Started + 1),      % atomic; Started is the value before
    (   Started + 1 =:= Tasks
    ->  format("alive ~d~n", [Tasks]),
        flush_output,
        thread_send_message(Main, all_started)
    ;   true
    ),
    thread_get_message(next(Next)),
    pass(Main, Number, Next).

% A token is the number of hops that it has left.
pass(Main, Number, Next) :-
    thread_get_message(token(Hops)),
    (   Hops == end
    ->  true
    ;   Hops > 0
    ->  Left is Hops - 1,
        thread_send_message(Next, token(Left)),
        pass(Main, Number, Next)
    ;   thread_send_message(Main, noted(Number)),
        pass(Main, Number, Next)
    ).

give_up(Tasks, Number, Error) :-
    print_message(error, Error),
    Left is Tasks - Number,
    format("failed ~d~n", [Left]),
    flush_output,
    halt(1).

whole_number(Word, Number) :-
    atom_number(Word, Number),
    integer(Number),
    Number >= 0.
