% One OS thread per node of a tree: it sends its sum to its parent and is joined.

:- initialization(main, main).

main(Words) :-
    maplist(atom_number, Words, [Tasks, Operations]),
    format("ready~n"),
    flush_output,
    flag(requested, _, Operations),
    trees(Operations, Tasks, 0, Sum),
    format("done ~d~ncheck ~d~n", [Operations, Sum]).

trees(0, _, Sum, Sum) :-
    !.
trees(Left, Tasks, Before, Sum) :-
    fork([0], Tasks, Tree),
    After is Before + Tree,
    Next is Left - Tasks,
    flag(done, Done, Done + Tasks),
    trees(Next, Tasks, After, Sum).

% Sum is that of the nodes of Leaves leaves each that begin with the numbers Firsts.
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
    Size is Leaves // 10,
    numlist(0, 9, Children),
    maplist([Child, Begin]>>(Begin is First + Child * Size), Children, Firsts),
    fork(Firsts, Size, Sum),
    thread_send_message(Parent, sum(Sum)).

give_up(Error) :-
    print_message(error, Error),
    flag(requested, Requested, Requested),
    flag(done, Done, Done),
    Left is Requested - Done,
    format("done ~d~nfailed ~d~n", [Done, Left]),
    flush_output,
    halt(1).
