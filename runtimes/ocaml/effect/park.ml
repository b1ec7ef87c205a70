(* One fiber per task, which awaits one message. *)

let started = ref 0
let finished = ref 0

let task tasks message =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (tasks - !finished);
  Scheduler.await message;
  incr finished

let () =
  let start = Unix.gettimeofday () in
  let tasks = int_of_string Sys.argv.(1) and seconds = float_of_string Sys.argv.(2) in
  let messages = Array.init tasks (fun _ -> Scheduler.promise ()) in
  Array.iter (fun message -> Scheduler.spawn (fun () -> task tasks message)) messages;
  Unix.sleepf (Float.max 0. (start +. seconds -. Unix.gettimeofday ()));
  Array.iter (fun message -> Scheduler.fulfill message ()) messages;
  Scheduler.run ();
  Printf.printf "done %d\n" !finished
