## One async proc per task, each waiting for a future that the main proc keeps.

import std/[asyncdispatch, monotimes, os, strutils, times]

let begin = getMonoTime()
var started, finished = 0

proc task(tasks: int, message: Future[void]) {.async.} =
  inc started
  if started == tasks:
    echo "alive ", started - finished
    flushFile stdout
  await message
  inc finished

proc run(tasks, seconds: int) {.async.} =
  var mailboxes, running = newSeqOfCap[Future[void]](tasks)
  for _ in 1 .. tasks:
    let mailbox = newFuture[void]("park")
    mailboxes.add mailbox
    running.add task(tasks, mailbox)
  let due = begin + initDuration(seconds = seconds)
  await sleepAsync max(0, int inMilliseconds(due - getMonoTime()))
  for mailbox in mailboxes:
    mailbox.complete()
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
  quit "usage: park <tasks> <seconds>: whole numbers, at least one task", 2

let (tasks, seconds) = arguments()
waitFor run(tasks, seconds)
