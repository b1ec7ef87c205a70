(* One Lwt promise per task, waiting on Lwt's event loop. *)

open Lwt.Syntax

let started = ref 0
let finished = ref 0

let task tasks seconds =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (!started - !finished);
  let* () = Lwt_unix.sleep seconds in
  incr finished;
  Lwt.return_unit

let run tasks seconds =
  let* () = Lwt.join (List.init tasks (fun _ -> task tasks seconds)) in
  Printf.printf "done %d\n%!" !finished;
  Lwt.return_unit

let () =
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some seconds ] when tasks >= 1 && seconds >= 0 ->
      Lwt_main.run (run tasks (float_of_int seconds))
  | _ ->
      prerr_endline "usage: sleep <tasks> <seconds>: whole numbers, at least one task";
      exit 2
