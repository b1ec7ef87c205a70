## One call of an async proc per operation, whose future is awaited for its result.

import std/[asyncdispatch, os, strutils]

proc turn(): Future[void] =
  ## Completes on the next turn of the dispatcher; `sleepAsync(0)` would add a timer.
  let future = newFuture[void]("turn")
  callSoon proc () = future.complete()
  return future

proc task(number: int): Future[int] {.async.} =
  await turn() # otherwise the task would complete before its caller continues
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

let tasks = parseInt(paramStr(1))
let operations = parseInt(paramStr(2))
echo "ready"
flushFile stdout
waitFor run(tasks, operations)
