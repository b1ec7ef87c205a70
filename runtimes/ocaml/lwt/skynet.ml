(* One Lwt promise per node of a tree, each awaiting its ten children. *)

open Lwt.Syntax

(* The sum of so many leaves from a number on. *)
let rec node first leaves =
  if leaves = 1 then
    let* () = Lwt.pause () in (* without a wait the leaf would be over before its parent goes on *)
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

let rec is_power_of_ten number = number = 1 || (number > 1 && number mod 10 = 0 && is_power_of_ten (number / 10))

let () =
  match List.map int_of_string_opt (List.tl (Array.to_list Sys.argv)) with
  | [ Some tasks; Some operations ] when is_power_of_ten tasks && operations >= 1 && operations mod tasks = 0 ->
      Lwt_main.run (run tasks operations)
  | _ ->
      prerr_endline "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them";
      exit 2
