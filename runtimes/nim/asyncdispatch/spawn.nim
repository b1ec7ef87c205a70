## One call of an async proc per operation, whose future is awaited for its result.

import std/[asyncdispatch, os, strutils]

proc turn(): Future[void] =
  ## Completes when the dispatcher comes to it; `sleepAsync(0)` would be a timer besides.
  let future = newFuture[void]("turn")
  callSoon proc () = future.complete()
  return future

proc task(number: int): Future[int] {.async.} =
  await turn() # without it the task would be over before its caller goes on
  return number

proc run(tasks, operations: int) {.async.} =
  var sum = 0
  for first in countup(0, operations - 1, tasks):
    var running = newSeqOfCap[Future[int]](tasks)
    for number in first ..< min(first + tasks, operations):
      running.add task(number)
    for number in await all(running):
      sum += number
  echo "done ", operations
  echo "check ", sum

proc arguments(): (int, int) =
  try:
    let words = commandLineParams()
    if words.len == 2:
      let (tasks, operations) = (parseInt words[0], parseInt words[1])
      if tasks >= 1 and operations >= 1:
        return (tasks, operations)
  except ValueError:
    discard
  quit "usage: spawn <tasks> <operations>: whole numbers, at least one of each", 2

let (tasks, operations) = arguments()
echo "ready"
flushFile stdout
waitFor run(tasks, operations)
