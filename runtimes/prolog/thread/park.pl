% One OS thread per task, each waiting for a message in its queue.

:- initialization(main, main).

main(Words) :-
    maplist(atom_number, Words, [Tasks, Seconds]),
    run(Tasks, Seconds).

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
    flag(started, Started, Started + 1),      % atomic; Started is the old value
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
