(* One fiber per task, which sleeps in a queue of timers. *)

let started = ref 0
let finished = ref 0

let task tasks seconds =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (tasks - !finished);
  Scheduler.sleep seconds;
  incr finished

let () =
  let tasks = int_of_string Sys.argv.(1) and seconds = int_of_string Sys.argv.(2) in
  for _ = 1 to tasks do
    Scheduler.spawn (fun () -> task tasks seconds)
  done;
  Scheduler.run ();
  Printf.printf "done %d\n" !finished
