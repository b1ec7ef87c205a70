## A ring of async procs, each passing tokens from its channel to the next.

import std/[asyncdispatch, options, os, strutils]

type Channel = ref object
  ## A channel of capacity 1; at most one receiver and one sender may wait.
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
    # The first tokens take the remainder.
    await channels[token * tasks div tokens].send((operations + tokens - 1 - token) div tokens)
  await allNoted
  echo "done ", operations
  echo "check ", sum
  # The tasks end with the program: a future cannot be canceled.

let tasks = parseInt(paramStr(1))
let operations = parseInt(paramStr(2))
let tokens = if paramCount() > 3: parseInt(paramStr(4)) else: 1 # after --tokens
discard getGlobalDispatcher() # without one, `complete` would call back at once
waitFor run(tasks, operations, tokens)
