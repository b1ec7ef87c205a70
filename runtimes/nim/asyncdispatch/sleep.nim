## One async proc per task, waiting on the dispatcher's timers.

import std/[asyncdispatch, os, strutils]

var started, finished = 0

proc task(tasks, seconds: int) {.async.} =
  inc started
  if started == tasks:
    echo "alive ", started - finished
    flushFile stdout
  await sleepAsync(seconds * 1000)
  inc finished

proc run(tasks, seconds: int) {.async.} =
  var running = newSeqOfCap[Future[void]](tasks)
  for _ in 1 .. tasks:
    running.add task(tasks, seconds)
  await all(running)
  echo "done ", finished

let tasks = parseInt(paramStr(1))
let seconds = parseInt(paramStr(2))
waitFor run(tasks, seconds)
