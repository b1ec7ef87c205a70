## One call of an async proc per node of a tree, each awaiting the futures of its ten children.

import std/[asyncdispatch, math, os, strutils]

proc turn(): Future[void] =
  ## Completes when the dispatcher comes to it; `sleepAsync(0)` would be a timer besides.
  let future = newFuture[void]("turn")
  callSoon proc () = future.complete()
  return future

proc node(first, leaves: int): Future[int] {.async.} =
  ## Sums the numbers of its leaves, which begin with `first`.
  if leaves == 1:
    await turn() # without it the leaf would be over before its parent goes on
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

proc isPowerOfTen(number: int): bool =
  var rest = number
  while rest > 0 and rest mod 10 == 0:
    rest = rest div 10
  return rest == 1

proc arguments(): (int, int) =
  try:
    let words = commandLineParams()
    if words.len == 2:
      let (leaves, operations) = (parseInt words[0], parseInt words[1])
      if isPowerOfTen(leaves) and operations >= 1 and operations mod leaves == 0:
        return (leaves, operations)
  except ValueError:
    discard
  quit "usage: skynet <tasks> <operations>: whole numbers, tasks a power of ten, operations a multiple of it", 2

let (leaves, operations) = arguments()
echo "ready"
flushFile stdout
waitFor run(leaves, operations)
