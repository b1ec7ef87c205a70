(* One Lwt promise per operation, awaited for its result. *)

open Lwt.Syntax

let task number =
  let* () = Lwt.pause () in (* suspends the task, so that it is more than a call *)
  Lwt.return number

let rec rounds tasks operations first sum =
  if first = operations then Lwt.return sum
  else
    let round = min tasks (operations - first) in
    let* numbers = Lwt.all (List.init round (fun i -> task (first + i))) in
    rounds tasks operations (first + round) (List.fold_left ( + ) sum numbers)

let run tasks operations =
  Printf.printf "ready\n%!";
  let* sum = rounds tasks operations 0 0 in
  Printf.printf "done %d\ncheck %d\n%!" operations sum;
  Lwt.return_unit

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  Lwt_main.run (run tasks operations)
