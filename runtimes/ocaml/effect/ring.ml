(* One fiber per task, which passes tokens from its channel to that of the next fiber. *)

open Scheduler

(* A channel for one message, with one receiver; while it is full, one sender at a time may wait. *)
type channel = { mutable message : int option; mutable receiver : int fiber option; mutable sender : unit fiber option }

let channel () = { message = None; receiver = None; sender = None }

let rec send channel message =
  match channel with
  | { receiver = Some fiber; _ } ->
      channel.receiver <- None;
      resume fiber message
  | { message = None; _ } -> channel.message <- Some message
  | _ ->
      suspend (fun fiber -> channel.sender <- Some fiber);
      send channel message

let receive channel =
  match channel.message with
  | None -> suspend (fun fiber -> channel.receiver <- Some fiber)
  | Some message ->
      channel.message <- None;
      Option.iter (fun fiber -> resume fiber ()) channel.sender;
      channel.sender <- None;
      message

let started = ref 0
let sum = ref 0

(* A token is the number of hops that it has left. *)
let task tasks number own next =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" tasks;
  while true do
    let hops = receive own in
    if hops > 0 then send next (hops - 1) else sum := !sum + number
  done

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  let tokens = if Array.length Sys.argv > 3 then int_of_string Sys.argv.(4) else 1 in
  let channels = Array.init tasks (fun _ -> channel ()) in
  Array.iteri (fun i own -> spawn (fun () -> task tasks i own channels.((i + 1) mod tasks))) channels;
  Printf.printf "ready\n%!";
  for token = 0 to tokens - 1 do
    (* The first tokens make one hop more where operations are no multiple of tokens. *)
    send channels.(token * tasks / tokens) ((operations + tokens - 1 - token) / tokens)
  done;
  run (); (* until all fibers wait: all tokens have arrived *)
  Printf.printf "done %d\ncheck %d\n" operations !sum
