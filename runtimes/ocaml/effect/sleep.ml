(* One fiber per task, suspended by an effect. OCaml brings effects but no loop that wakes fibers: this is the
   least that one needs, in one domain. *)

open Effect.Deep

type _ Effect.t += Sleep : int -> unit Effect.t

module Deadlines = Map.Make (struct
  type t = float * int (* when, and a number that keeps equal times apart *)

  let compare (a, i) (b, j) = match Float.compare a b with 0 -> Int.compare i j | order -> order
end)

let waiting : (unit, unit) continuation Deadlines.t ref = ref Deadlines.empty
let number = ref 0
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
  | effect Sleep seconds, fiber ->
      incr number;
      let due = Unix.gettimeofday () +. float_of_int seconds in
      waiting := Deadlines.add (due, !number) fiber !waiting

let rec wake_all () =
  match Deadlines.min_binding_opt !waiting with
  | None -> ()
  | Some (((due, _) as first), fiber) ->
      waiting := Deadlines.remove first !waiting;
      let left = due -. Unix.gettimeofday () in
      if left > 0. then Unix.sleepf left;
      continue fiber ();
      wake_all ()

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
