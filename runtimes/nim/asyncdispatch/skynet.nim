## A tree of async procs, each awaiting the futures of its ten children.

import std/[asyncdispatch, math, os, strutils]

proc turn(): Future[void] =
  ## Completes on the next turn of the dispatcher; `sleepAsync(0)` would add a timer.
  let future = newFuture[void]("turn")
  callSoon proc () = future.complete()
  return future

proc node(first, leaves: int): Future[int] {.async.} =
  ## Sums first, ..., first + leaves - 1.
  if leaves == 1:
    await turn() # otherwise the leaf would complete before its parent continues
    return first
  let share = leaves div 10
  var children = newSeqOfCap[Future[int]](10)
  for child in 0 ..< 10:
    children.add node(first + child * share, share)
  return sum(await all(children))

proc run(leaves, operations: int) {.async.} =
  var sum = 0
  for _ in 1 .. operations div leaves:
    sum += await node(0, leaves)
  echo "done ", operations
  echo "check ", sum

let leaves = parseInt(paramStr(1))
let operations = parseInt(paramStr(2))
echo "ready"
flushFile stdout
waitFor run(leaves, operations)
