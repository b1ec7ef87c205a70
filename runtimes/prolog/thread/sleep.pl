% One OS thread per task.

:- initialization(main, main).

main(Words) :-
    maplist(atom_number, Words, [Tasks, Seconds]),
    run(Tasks, Seconds).

run(Tasks, Seconds) :-
    numlist(1, Tasks, Numbers),
    maplist(launch(Tasks, Seconds), Numbers, Threads),
    maplist(thread_join, Threads),
    flag(finished, Finished, Finished),
    format("done ~d~n", [Finished]).

launch(Tasks, Seconds, Number, Thread) :-
    catch(thread_create(task(Tasks, Seconds), Thread), Error, give_up(Tasks, Number, Error)).

task(Tasks, Seconds) :-
    flag(started, Started, Started + 1),      % atomic; Started is the old value
    (   Started + 1 =:= Tasks
    ->  flag(finished, Finished, Finished),
        Alive is Tasks - Finished,
        format("alive ~d~n", [Alive]),
        flush_output
    ;   true
    ),
    sleep(Seconds),
    flag(finished, Ended, Ended + 1).

give_up(Tasks, Number, Error) :-
    print_message(error, Error),
    Left is Tasks - Number + 1,
    format("failed ~d~n", [Left]),
    flush_output,
    halt(1).
