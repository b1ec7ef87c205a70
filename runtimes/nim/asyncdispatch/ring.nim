## One async proc per place in a ring, each handing on the tokens that come through its channel.

import std/[asyncdispatch, options, os, strutils]

type Channel = ref object
  ## Holds one message; one receiver and one sender at a time may wait.
  message: Option[int]
  receiver: Future[int]
  sender: Future[void]

proc send(channel: Channel, message: int) {.async.} =
  while channel.message.isSome:
    channel.sender = newFuture[void]("Channel.send")
    await channel.sender
  if channel.receiver.isNil:
    channel.message = some(message)
  else:
    let receiver = move channel.receiver
    receiver.complete message

proc receive(channel: Channel): Future[int] =
  result = newFuture[int]("Channel.receive")
  if channel.message.isNone:
    channel.receiver = result
  else:
    result.complete get(channel.message)
    channel.message = none(int)
    if not channel.sender.isNil:
      let sender = move channel.sender
      sender.complete()

var started, noted, sum = 0

proc task(tasks, tokens, number: int; own, next: Channel; allNoted: Future[void]) {.async.} =
  inc started
  if started == tasks:
    echo "alive ", tasks
    flushFile stdout
  while true:
    let hops = await own.receive()
    if hops > 0:
      await next.send(hops - 1)
    else:
      sum += number
      inc noted
      if noted == tokens:
        allNoted.complete()

proc run(tasks, operations, tokens: int) {.async.} =
  var channels = newSeqOfCap[Channel](tasks)
  for _ in 1 .. tasks:
    channels.add Channel()
  let allNoted = newFuture[void]("run")
  for number in 0 ..< tasks:
    asyncCheck task(tasks, tokens, number, channels[number], channels[(number + 1) mod tasks], allNoted)
  echo "ready"
  flushFile stdout

  for token in 0 ..< tokens:
    # Where the operations cannot be shared evenly, the first tokens make one hop more.
    await channels[token * tasks div tokens].send((operations + tokens - 1 - token) div tokens)
  await allNoted
  echo "done ", operations
  echo "check ", sum
  # The tasks end with the program: a future cannot be cancelled.

proc arguments(): (int, int, int) =
  try:
    let words = commandLineParams()
    if words.len == 2 or words.len == 4 and words[2] == "--tokens":
      let (tasks, operations) = (parseInt words[0], parseInt words[1])
      let tokens = if words.len == 4: parseInt words[3] else: 1
      if operations >= 1 and tokens >= 1 and tokens <= tasks div 2:
        return (tasks, operations, tokens)
  except ValueError:
    discard
  quit "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least one operation, " &
    "at most half as many tokens as tasks", 2

let (tasks, operations, tokens) = arguments()
discard getGlobalDispatcher() # before there is one, what completes a future resumes who waits for it there and then
waitFor run(tasks, operations, tokens)
