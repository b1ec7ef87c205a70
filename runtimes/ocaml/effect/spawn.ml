(* One fiber per operation, awaited for its result. *)

let rounds tasks operations =
  let sum = ref 0 and first = ref 0 in
  while !first < operations do
    let round = min tasks (operations - !first) in
    let results = List.init round (fun i -> let number = !first + i in Scheduler.fork (fun () -> number)) in
    List.iter (fun result -> sum := !sum + Scheduler.await result) results;
    first := !first + round
  done;
  Printf.printf "done %d\ncheck %d\n" operations !sum

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  Printf.printf "ready\n%!";
  Scheduler.spawn (fun () -> rounds tasks operations);
  Scheduler.run ()
