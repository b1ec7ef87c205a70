## One async proc per task, each awaiting a future that the main proc completes.

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

let tasks = parseInt(paramStr(1))
let seconds = parseInt(paramStr(2))
waitFor run(tasks, seconds)
