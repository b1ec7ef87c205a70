(* One fiber per node of a tree, each awaiting its ten children. OCaml brings effects but no loop that runs fibers: this is the
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

(* The sum of so many leaves from a number on. *)
let rec node first leaves =
  if leaves = 1 then first
  else
    let share = leaves / 10 in
    let children = List.init 10 (fun i -> fork (fun () -> node (first + (i * share)) share)) in
    List.fold_left (fun sum child -> sum + await child) 0 children

let trees tasks operations =
  let sum = ref 0 in
  for _ = 1 to operations / tasks do
    sum := !sum + await (fork (fun () -> node 0 tasks))
  done;
  Printf.printf "done %d\ncheck %d\n" operations !sum

let rec is_power_of_ten number = number = 1 || (number > 1 && number mod 10 = 0 && is_power_of_ten (number / 10))

let () =
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some operations ] when is_power_of_ten tasks && operations >= 1 && operations mod tasks = 0 ->
      Printf.printf "ready\n%!";
      spawn (fun () -> trees tasks operations);
      run_all ()
  | _ ->
      prerr_endline "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them";
      exit 2
