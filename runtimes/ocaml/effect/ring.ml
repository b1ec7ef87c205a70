(* One fiber per place in a ring, each with a channel of one from which it takes tokens. OCaml brings effects but no loop that runs fibers: this is the
   least that one needs, in one domain. *)

open Effect.Deep

type _ Effect.t += Suspend : (('a -> unit) -> unit) -> 'a Effect.t

let ready : (unit -> unit) Queue.t = Queue.create ()
let suspend register = Effect.perform (Suspend register)

(* Runs a fiber until it waits. Whoever has what it waits for puts what is left of it into the queue again. *)
let run fiber =
  match fiber () with
  | () -> ()
  | effect Suspend register, rest -> register (fun result -> Queue.push (fun () -> continue rest result) ready)

let spawn fiber = Queue.push (fun () -> run fiber) ready

let rec run_all () =
  match Queue.take_opt ready with
  | None -> ()
  | Some go ->
      go ();
      run_all ()

(* Holds one message, for one receiver; while it is full, one sender at a time may wait for room. *)
type channel = {
  mutable message : int option;
  mutable receiver : (int -> unit) option;
  mutable sender : (unit -> unit) option;
}

let channel () = { message = None; receiver = None; sender = None }

let rec send channel message =
  match channel with
  | { receiver = Some wake; _ } ->
      channel.receiver <- None;
      wake message
  | { message = None; _ } -> channel.message <- Some message
  | _ ->
      suspend (fun wake -> channel.sender <- Some wake);
      send channel message

let receive channel =
  match channel.message with
  | None -> suspend (fun wake -> channel.receiver <- Some wake)
  | Some message ->
      channel.message <- None;
      Option.iter (fun wake -> wake ()) channel.sender;
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

let ring tasks operations tokens =
  let channels = Array.init tasks (fun _ -> channel ()) in
  Array.iteri (fun i own -> spawn (fun () -> task tasks i own channels.((i + 1) mod tasks))) channels;
  run_all ();
  Printf.printf "ready\n%!";
  for token = 0 to tokens - 1 do
    (* The first tokens make one hop more, where the operations cannot be shared evenly. *)
    send channels.(token * tasks / tokens) ((operations + tokens - 1 - token) / tokens)
  done;
  run_all (); (* until every task waits: all tokens have been noted *)
  Printf.printf "done %d\ncheck %d\n" operations !sum

let () =
  let words =
    match List.tl (Array.to_list Sys.argv) with
    | [ tasks; operations ] -> [ tasks; operations; "1" ]
    | [ tasks; operations; "--tokens"; tokens ] -> [ tasks; operations; tokens ]
    | _ -> []
  in
  match List.map int_of_string_opt words with
  | [ Some tasks; Some operations; Some tokens ] when operations >= 1 && tokens >= 1 && tokens <= tasks / 2 ->
      ring tasks operations tokens
  | _ ->
      prerr_endline "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token";
      exit 2
