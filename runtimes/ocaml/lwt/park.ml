(* One Lwt promise per task, each waiting for another one, which the main program resolves. *)

open Lwt.Syntax

let started = ref 0
let finished = ref 0

let task tasks message =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (!started - !finished);
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
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some seconds ] when tasks >= 1 && seconds >= 0 ->
      Lwt_main.run (run tasks (start +. float_of_int seconds))
  | _ ->
      prerr_endline "usage: park <tasks> <seconds>: whole numbers, at least one task";
      exit 2
