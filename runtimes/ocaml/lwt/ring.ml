(* One Lwt promise per task, which passes tokens from its mailbox variable to that of the next task. *)

open Lwt.Syntax

let started = ref 0

(* A token is the number of hops that it has left. *)
let task tasks number own next arrived =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" tasks;
  let rec pass () =
    let* hops = Lwt_mvar.take own in
    let* () = if hops > 0 then Lwt_mvar.put next (hops - 1) else Lwt_mvar.put arrived number in
    pass ()
  in
  pass ()

let run tasks operations tokens =
  let mailboxes = Array.init tasks (fun _ -> Lwt_mvar.create_empty ()) in
  let arrived = Lwt_mvar.create_empty () in
  Array.iteri
    (fun number own -> Lwt.async (fun () -> task tasks number own mailboxes.((number + 1) mod tasks) arrived))
    mailboxes;
  Printf.printf "ready\n%!";
  let put token =
    (* The first tokens make one hop more where operations are no multiple of tokens. *)
    Lwt_mvar.put mailboxes.(token * tasks / tokens) ((operations + tokens - 1 - token) / tokens)
  in
  let* () = Lwt_list.iter_s put (List.init tokens Fun.id) in
  let rec take_all left sum =
    if left = 0 then Lwt.return sum
    else
      let* number = Lwt_mvar.take arrived in
      take_all (left - 1) (sum + number)
  in
  let* sum = take_all tokens 0 in
  Printf.printf "done %d\ncheck %d\n%!" operations sum;
  Lwt.return_unit (* the tasks end with the program *)

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  let tokens = if Array.length Sys.argv > 3 then int_of_string Sys.argv.(4) else 1 in
  Lwt_main.run (run tasks operations tokens)
