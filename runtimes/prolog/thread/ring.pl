% A ring of OS threads: each receives tokens from its message queue and sends them to the next thread, which its first
% message names. A token is the number of hops that it has left.

:- initialization(main, main).

main([Tasks, Operations]) :-
    main([Tasks, Operations, '--tokens', '1']).
main([TasksWord, OperationsWord, '--tokens', TokensWord]) :-
    maplist(atom_number, [TasksWord, OperationsWord, TokensWord], [Tasks, Operations, Tokens]),
    run(Tasks, Operations, Tokens).

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
    forall(between(1, Tokens, Token), send_token(Ring, Tasks, Operations, Tokens, Token)),
    findall(Number, (between(1, Tokens, _), thread_get_message(result(Number))), Results),
    sum_list(Results, Sum),
    format("done ~d~ncheck ~d~n", [Operations, Sum]),
    flush_output,
    maplist(end, Threads),
    maplist(thread_join, Threads).

launch(Main, Tasks, Number, Thread) :-
    catch(thread_create(task(Main, Tasks, Number), Thread), Error, give_up(Tasks, Number, Error)).

introduce(Thread, Next) :-
    thread_send_message(Thread, next(Next)).

send_token(Ring, Tasks, Operations, Tokens, Token) :-
    Place is (Token - 1) * Tasks // Tokens + 1,
    Hops is (Operations + Tokens - Token) // Tokens,
    arg(Place, Ring, Thread),
    thread_send_message(Thread, token(Hops)).

end(Thread) :-
    thread_send_message(Thread, token(end)).

task(Main, Tasks, Number) :-
    flag(started, Started, Started + 1),      % atomic; Started is the old value
    (   Started + 1 =:= Tasks
    ->  format("alive ~d~n", [Tasks]),
        flush_output,
        thread_send_message(Main, all_started)
    ;   true
    ),
    thread_get_message(next(Next)),
    pass(Main, Number, Next).

pass(Main, Number, Next) :-
    thread_get_message(token(Hops)),
    (   Hops == end
    ->  true
    ;   Hops > 0
    ->  Left is Hops - 1,
        thread_send_message(Next, token(Left)),
        pass(Main, Number, Next)
    ;   thread_send_message(Main, result(Number)),
        pass(Main, Number, Next)
    ).

give_up(Tasks, Number, Error) :-
    print_message(error, Error),
    Left is Tasks - Number,
    format("failed ~d~n", [Left]),
    flush_output,
    halt(1).
