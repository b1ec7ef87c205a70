(* One fiber per task, each waiting for one message. OCaml brings effects but no loop that runs fibers: this is the
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

type mailbox = { mutable message : unit option; mutable receiver : (unit -> unit) option }

let receive mailbox =
  match mailbox.message with
  | Some message -> message
  | None -> suspend (fun wake -> mailbox.receiver <- Some wake)

let send mailbox message =
  match mailbox.receiver with
  | Some wake -> wake message
  | None -> mailbox.message <- Some message

let started = ref 0
let finished = ref 0

let task tasks mailbox =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (!started - !finished);
  receive mailbox;
  incr finished

let () =
  let start = Unix.gettimeofday () in
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some seconds ] when tasks >= 1 && seconds >= 0 ->
      let mailboxes = Array.init tasks (fun _ -> { message = None; receiver = None }) in
      Array.iter (fun mailbox -> spawn (fun () -> task tasks mailbox)) mailboxes;
      run_all ();
      Unix.sleepf (Float.max 0. (start +. float_of_int seconds -. Unix.gettimeofday ()));
      Array.iter (fun mailbox -> send mailbox ()) mailboxes;
      run_all ();
      Printf.printf "done %d\n" !finished
  | _ ->
      prerr_endline "usage: park <tasks> <seconds>: whole numbers, at least one task";
      exit 2
