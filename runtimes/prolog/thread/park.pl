% One thread of the operating system per task, each waiting for one message.

:- initialization(main, main).

main([TasksWord, SecondsWord]) :-
    whole_number(TasksWord, Tasks), Tasks >= 1,
    whole_number(SecondsWord, Seconds),
    !,
    run(Tasks, Seconds).
main(_) :-
    format(user_error, "usage: park.pl <tasks> <seconds>: whole numbers, at least one task~n", []),
    halt(2).

run(Tasks, Seconds) :-
    get_time(Start),
    numlist(1, Tasks, Numbers),
    maplist(launch(Tasks), Numbers, Threads),
    get_time(Now),
    Left is max(0, Start + Seconds - Now),
    sleep(Left),
    maplist(wake, Threads),
    maplist(thread_join, Threads),
    flag(finished, Finished, Finished),
    format("done ~d~n", [Finished]).

launch(Tasks, Number, Thread) :-
    catch(thread_create(task(Tasks), Thread), Error, give_up(Tasks, Number, Error)).

task(Tasks) :-
    flag(started, Started, Started + 1),      % atomic; Started is the value before
    (   Started + 1 =:= Tasks
    ->  flag(finished, Finished, Finished),
        Alive is Tasks - Finished,
        format("alive ~d~n", [Alive]),
        flush_output
    ;   true
    ),
    thread_get_message(wake),
    flag(finished, Ended, Ended + 1).

wake(Thread) :-
    thread_send_message(Thread, wake).

give_up(Tasks, Number, Error) :-
    print_message(error, Error),
    Left is Tasks - Number + 1,
    format("failed ~d~n", [Left]),
    flush_output,
    halt(1).

whole_number(Word, Number) :-
    atom_number(Word, Number),
    integer(Number),
    Number >= 0.
