(* One Lwt promise per task, which sleeps in Lwt's event loop. *)

open Lwt.Syntax

let started = ref 0
let finished = ref 0

let task tasks seconds =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (tasks - !finished);
  let* () = Lwt_unix.sleep seconds in
  incr finished;
  Lwt.return_unit

let run tasks seconds =
  let* () = Lwt.join (List.init tasks (fun _ -> task tasks seconds)) in
  Printf.printf "done %d\n%!" !finished;
  Lwt.return_unit

let () =
  let tasks = int_of_string Sys.argv.(1) and seconds = float_of_string Sys.argv.(2) in
  Lwt_main.run (run tasks seconds)
