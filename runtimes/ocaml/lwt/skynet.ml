(* One Lwt promise per node of a tree, which awaits its ten children. *)

open Lwt.Syntax

(* The sum of [leaves] numbers from [first] on. *)
let rec node first leaves =
  if leaves = 1 then
    let* () = Lwt.pause () in (* suspends the leaf, so that it is more than a call *)
    Lwt.return first
  else
    let share = leaves / 10 in
    let* sums = Lwt.all (List.init 10 (fun i -> node (first + (i * share)) share)) in
    Lwt.return (List.fold_left ( + ) 0 sums)

let rec trees count tasks sum =
  if count = 0 then Lwt.return sum
  else
    let* tree = node 0 tasks in
    trees (count - 1) tasks (sum + tree)

let run tasks operations =
  Printf.printf "ready\n%!";
  let* sum = trees (operations / tasks) tasks 0 in
  Printf.printf "done %d\ncheck %d\n%!" operations sum;
  Lwt.return_unit

let () =
  let tasks = int_of_string Sys.argv.(1) and operations = int_of_string Sys.argv.(2) in
  Lwt_main.run (run tasks operations)
