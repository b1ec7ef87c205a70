(* One Lwt promise per place in a ring, each with a mailbox variable from which it takes tokens. *)

open Lwt.Syntax

let started = ref 0

(* A token is the number of hops that it has left. *)
let task tasks number own next noted =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" tasks;
  let rec pass () =
    let* hops = Lwt_mvar.take own in
    let* () = if hops > 0 then Lwt_mvar.put next (hops - 1) else Lwt_mvar.put noted number in
    pass ()
  in
  pass ()

let run tasks operations tokens =
  let mailboxes = Array.init tasks (fun _ -> Lwt_mvar.create_empty ()) in
  let noted = Lwt_mvar.create_empty () in
  Array.iteri
    (fun number own -> Lwt.async (fun () -> task tasks number own mailboxes.((number + 1) mod tasks) noted))
    mailboxes;
  Printf.printf "ready\n%!";
  let put token =
    (* The first tokens make one hop more, where the operations cannot be shared evenly. *)
    Lwt_mvar.put mailboxes.(token * tasks / tokens) ((operations + tokens - 1 - token) / tokens)
  in
  let* () = Lwt_list.iter_s put (List.init tokens Fun.id) in
  let rec take_all left sum =
    if left = 0 then Lwt.return sum
    else
      let* number = Lwt_mvar.take noted in
      take_all (left - 1) (sum + number)
  in
  let* sum = take_all tokens 0 in
  Printf.printf "done %d\ncheck %d\n%!" operations sum;
  Lwt.return_unit (* the tasks end with the program *)

let () =
  let words =
    match List.tl (Array.to_list Sys.argv) with
    | [ tasks; operations ] -> [ tasks; operations; "1" ]
    | [ tasks; operations; "--tokens"; tokens ] -> [ tasks; operations; tokens ]
    | _ -> []
  in
  match List.map int_of_string_opt words with
  | [ Some tasks; Some operations; Some tokens ] when operations >= 1 && tokens >= 1 && tokens <= tasks / 2 ->
      Lwt_main.run (run tasks operations tokens)
  | _ ->
      prerr_endline "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token";
      exit 2
