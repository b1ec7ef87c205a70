% One thread of the operating system per node of a tree, which sends its parent its sum and is joined.

:- initialization(main, main).

main([TasksWord, OperationsWord]) :-
    whole_number(TasksWord, Tasks), power_of_ten(Tasks),
    whole_number(OperationsWord, Operations), Operations >= 1, Operations mod Tasks =:= 0,
    !,
    format("ready~n"),
    flush_output,
    flag(asked, _, Operations),
    trees(Operations, Tasks, 0, Sum),
    format("done ~d~ncheck ~d~n", [Operations, Sum]).
main(_) :-
    format(user_error, "usage: skynet.pl <tasks> <operations>: tasks a power of ten, operations a multiple of them~n", []),
    halt(2).

trees(0, _, Sum, Sum) :-
    !.
trees(Left, Tasks, Before, Sum) :-
    fork([0], Tasks, Tree),
    After is Before + Tree,
    Next is Left - Tasks,
    flag(done, Done, Done + Tasks),
    trees(Next, Tasks, After, Sum).

% The sum of the nodes that begin with these numbers and have so many leaves each.
fork(Firsts, Leaves, Sum) :-
    thread_self(Parent),
    catch(maplist(launch(Parent, Leaves), Firsts, Threads), Error, give_up(Error)),
    foldl(receive, Threads, 0, Sum),
    maplist(thread_join, Threads).

launch(Parent, Leaves, First, Thread) :-
    thread_create(node(Parent, First, Leaves), Thread).

receive(_, Before, After) :-
    thread_get_message(sum(Sum)),
    After is Before + Sum.

node(Parent, First, 1) :-
    !,
    thread_send_message(Parent, sum(First)).
node(Parent, First, Leaves) :-
    Share is Leaves // 10,
    numlist(0, 9, Children),
    maplist([Child, Begin]>>(Begin is First + Child * Share), Children, Firsts),
    fork(Firsts, Share, Sum),
    thread_send_message(Parent, sum(Sum)).

give_up(Error) :-
    print_message(error, Error),
    flag(asked, Asked, Asked),
    flag(done, Done, Done),
    Left is Asked - Done,
    format("done ~d~nfailed ~d~n", [Done, Left]),
    flush_output,
    halt(1).

power_of_ten(1) :-
    !.
power_of_ten(Number) :-
    Number > 1,
    Number mod 10 =:= 0,
    Rest is Number // 10,
    power_of_ten(Rest).

whole_number(Word, Number) :-
    atom_number(Word, Number),
    integer(Number),
    Number >= 0.
