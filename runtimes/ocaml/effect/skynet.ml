(* One fiber per node of a tree, which awaits its ten children. *)

(* The sum of [leaves] numbers from [first] on. *)
let rec node first leaves =
  if leaves = 1 then first
  else
    let share = leaves / 10 in
    let children = List.init 10 (fun i -> Scheduler.fork (fun () -> node (first + (i * share)) share)) in
    List.fold_left (fun sum child -> sum + Scheduler.await child) 0 children

let trees tasks operations =
  let sum = ref 0 in
  for _ = 1 to operations / tasks do
    sum := !sum + Scheduler.(await (fork (fun () -> node 0 tasks)))
  done;
  Printf.printf "done %d\ncheck %d\n" operations !sum

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  Printf.printf "ready\n%!";
  Scheduler.spawn (fun () -> trees tasks operations);
  Scheduler.run ()
