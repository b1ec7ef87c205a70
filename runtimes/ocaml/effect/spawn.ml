(* One fiber per operation, which is awaited for its result. OCaml brings effects but no loop that runs fibers: this is the
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

type promise = { mutable result : int option; mutable waiter : (int -> unit) option }

let fulfil promise result =
  promise.result <- Some result;
  Option.iter (fun wake -> wake result) promise.waiter

let await promise =
  match promise.result with
  | Some result -> result
  | None -> suspend (fun wake -> promise.waiter <- Some wake)

let fork task =
  let promise = { result = None; waiter = None } in
  spawn (fun () -> fulfil promise (task ()));
  promise

let rounds tasks operations =
  let sum = ref 0 in
  let first = ref 0 in
  while !first < operations do
    let round = min tasks (operations - !first) in
    let promises =
      List.init round (fun i ->
          let number = !first + i in
          fork (fun () -> number))
    in
    List.iter (fun promise -> sum := !sum + await promise) promises;
    first := !first + round
  done;
  Printf.printf "done %d\ncheck %d\n" operations !sum

let () =
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some operations ] when tasks >= 1 && operations >= 1 ->
      Printf.printf "ready\n%!";
      spawn (fun () -> rounds tasks operations);
      run_all ()
  | _ ->
      prerr_endline "usage: spawn <tasks> <operations>: whole numbers, at least one of each";
      exit 2
