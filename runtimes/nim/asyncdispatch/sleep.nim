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

proc arguments(): (int, int) =
  try:
    let words = commandLineParams()
    if words.len == 2:
      let (tasks, seconds) = (parseInt words[0], parseInt words[1])
      if tasks >= 1 and seconds >= 0:
        return (tasks, seconds)
  except ValueError:
    discard
  quit "usage: sleep <tasks> <seconds>: whole numbers, at least one task", 2

let (tasks, seconds) = arguments()
waitFor run(tasks, seconds)
