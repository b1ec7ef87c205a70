(* One fiber per task, suspended by an effect. OCaml brings effects but no loop that wakes fibers: this is the
   least that one needs, in one domain. *)

open Effect.Deep

type _ Effect.t += Sleep : int -> unit Effect.t

(* Microseconds, as an int: a float would be a block of its own in a record that holds more than floats. *)
type sleeper = { due : int; fiber : (unit, unit) continuation }

let now () = int_of_float (Unix.gettimeofday () *. 1e6)

(* A binary heap: who is at place i is due no later than those at 2i + 1 and 2i + 2. *)
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

let add sleeper =
  Dynarray.add_last sleepers sleeper;
  sift_up (Dynarray.length sleepers - 1)

let take_earliest () =
  swap 0 (Dynarray.length sleepers - 1);
  let earliest = Dynarray.pop_last sleepers in
  sift_down 0;
  earliest

let started = ref 0
let finished = ref 0

let task tasks seconds =
  incr started;
  if !started = tasks then Printf.printf "alive %d\n%!" (!started - !finished);
  Effect.perform (Sleep seconds);
  incr finished

(* Runs a task until it sleeps; what is left of it waits for its deadline. *)
let spawn (task : unit -> unit) =
  try task () with
  | effect Sleep seconds, fiber -> add { due = now () + (seconds * 1_000_000); fiber }

let rec wake_all () =
  if not (Dynarray.is_empty sleepers) then begin
    let { due; fiber } = take_earliest () in
    let left = due - now () in
    if left > 0 then Unix.sleepf (float_of_int left *. 1e-6);
    continue fiber ();
    wake_all ()
  end

let () =
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some seconds ] when tasks >= 1 && seconds >= 0 ->
      for _ = 1 to tasks do
        spawn (fun () -> task tasks seconds)
      done;
      wake_all ();
      Printf.printf "done %d\n" !finished
  | _ ->
      prerr_endline "usage: sleep <tasks> <seconds>: whole numbers, at least one task";
      exit 2
