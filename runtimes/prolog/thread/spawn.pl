% One OS thread per operation: it sends its result to the main thread and is joined.

:- initialization(main, main).

main(Words) :-
    maplist(atom_number, Words, [Tasks, Operations]),
    format("ready~n"),
    flush_output,
    rounds(0, Tasks, Operations, 0, Sum),
    format("done ~d~ncheck ~d~n", [Operations, Sum]).

rounds(First, _, Operations, Sum, Sum) :-
    First >= Operations,
    !.
rounds(First, Tasks, Operations, Before, Sum) :-
    Next is min(First + Tasks, Operations),
    Last is Next - 1,
    numlist(First, Last, Numbers),
    thread_self(Main),
    catch(maplist(launch(Main), Numbers, Threads), Error, give_up(First, Operations, Error)),
    foldl(receive, Threads, Before, After),
    maplist(thread_join, Threads),
    rounds(Next, Tasks, Operations, After, Sum).

launch(Main, Number, Thread) :-
    thread_create(thread_send_message(Main, result(Number)), Thread).

receive(_, Before, After) :-
    thread_get_message(result(Number)),
    After is Before + Number.

give_up(Done, Operations, Error) :-
    print_message(error, Error),
    Left is Operations - Done,
    format("done ~d~nfailed ~d~n", [Done, Left]),
    flush_output,
    halt(1).
