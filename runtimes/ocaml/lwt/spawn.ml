(* One Lwt promise per operation, awaited for its result. *)

open Lwt.Syntax

let task number =
  let* () = Lwt.pause () in (* without a wait the task would be over before its caller goes on *)
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
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some operations ] when tasks >= 1 && operations >= 1 -> Lwt_main.run (run tasks operations)
  | _ ->
      prerr_endline "usage: spawn <tasks> <operations>: whole numbers, at least one of each";
      exit 2
