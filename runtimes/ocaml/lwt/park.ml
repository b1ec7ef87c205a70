(* One Lwt promise per task, which awaits a message from the main program. *)

open Lwt.Syntax

let started = ref 0
let finished = ref 0

let task tasks message =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (tasks - !finished);
  let* () = message in
  incr finished;
  Lwt.return_unit

let run tasks due =
  let mailboxes = List.init tasks (fun _ -> Lwt.wait ()) in
  let running = List.map (fun (message, _) -> task tasks message) mailboxes in
  let* () = Lwt_unix.sleep (Float.max 0. (due -. Unix.gettimeofday ())) in
  List.iter (fun (_, resolver) -> Lwt.wakeup_later resolver ()) mailboxes;
  let* () = Lwt.join running in
  Printf.printf "done %d\n%!" !finished;
  Lwt.return_unit

let () =
  let start = Unix.gettimeofday () in
  let tasks = int_of_string Sys.argv.(1) and seconds = float_of_string Sys.argv.(2) in
  Lwt_main.run (run tasks (start +. seconds))
