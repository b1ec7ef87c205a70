(* Fibers in one domain. OCaml has effects but no scheduler: this is the core of one, as Eio has underneath. *)

open Effect.Deep

(* A suspended fiber that waits for a value of type 'a. *)
type 'a fiber = ('a, unit) continuation

type _ Effect.t += Suspend : ('a fiber -> unit) -> 'a Effect.t

let ready : (unit -> unit) Queue.t = Queue.create ()

(* Suspends the running fiber and hands it to [store]; [resume] queues it to run on with a value. *)
let suspend store = Effect.perform (Suspend store)
let resume fiber value = Queue.push (fun () -> continue fiber value) ready

(* Runs a new fiber until it first suspends. *)
let spawn task =
  match task () with
  | () -> ()
  | effect Suspend store, fiber -> store fiber

type 'a state = Pending | Waiting of 'a fiber | Fulfilled of 'a
type 'a promise = 'a state ref

let promise () = ref Pending

let fulfill promise value =
  match !promise with
  | Waiting fiber -> resume fiber value
  | _ -> promise := Fulfilled value

let await promise =
  match !promise with
  | Fulfilled value -> value
  | _ -> suspend (fun fiber -> promise := Waiting fiber)

(* Queues a new fiber, and promises its result. *)
let fork task =
  let result = promise () in
  Queue.push (fun () -> spawn (fun () -> fulfill result (task ()))) ready;
  result

(* Microseconds, as an int: a float would be a block of its own in the record. *)
type sleeper = { due : int; fiber : unit fiber }

let now () = int_of_float (Unix.gettimeofday () *. 1e6)

(* A binary heap: the sleeper at i is due no later than those at 2i + 1 and 2i + 2. *)
let sleepers : sleeper Dynarray.t = Dynarray.create ()
let due i = if i < Dynarray.length sleepers then (Dynarray.get sleepers i).due else max_int

let swap i j =
  let sleeper = Dynarray.get sleepers i in
  Dynarray.set sleepers i (Dynarray.get sleepers j);
  Dynarray.set sleepers j sleeper

let rec sift_up i =
  let parent = (i - 1) / 2 in
  if due i < due parent then begin
    swap i parent;
    sift_up parent
  end

let rec sift_down i =
  let left = (2 * i) + 1 in
  let child = if due (left + 1) < due left then left + 1 else left in
  if due child < due i then begin
    swap i child;
    sift_down child
  end

let sleep seconds =
  let due = now () + (seconds * 1_000_000) in
  suspend (fun fiber ->
      Dynarray.add_last sleepers { due; fiber };
      sift_up (Dynarray.length sleepers - 1))

let take_earliest () =
  swap 0 (Dynarray.length sleepers - 1);
  let earliest = Dynarray.pop_last sleepers in
  sift_down 0;
  earliest

(* Runs fibers until none is ready and none sleeps. *)
let rec run () =
  match Queue.take_opt ready with
  | Some step ->
      step ();
      run ()
  | None when Dynarray.is_empty sleepers -> ()
  | None ->
      let { due; fiber } = take_earliest () in
      let left = due - now () in
      if left > 0 then Unix.sleepf (float_of_int left *. 1e-6);
      resume fiber ();
      run ()
