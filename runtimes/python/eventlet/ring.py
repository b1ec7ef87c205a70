"""One green thread per place of a ring, each with a queue of one from which it takes tokens."""

import argparse

import eventlet
from eventlet.event import Event
from eventlet.queue import LightQueue

started = 0
all_started = Event()
noted = LightQueue()


def task(tasks, number, mailbox, following):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.send()
    while True:
        hops = mailbox.get()
        if hops > 0:
            following.put(hops - 1)
        else:
            noted.put(number)


def main(tasks, operations, tokens):
    ring = [LightQueue(1) for _ in range(tasks)]
    for number in range(tasks):
        eventlet.spawn(task, tasks, number, ring[number], ring[(number + 1) % tasks])
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        ring[token * tasks // tokens].put(hops)
    total = sum(noted.get() for _ in range(tokens))
    print("done", operations)
    print("check", total)  # the green threads end with the program


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1, help="at most one for two tasks")
    given = parser.parse_args()
    if given.operations < 1 or not 1 <= given.tokens <= given.tasks // 2:
        parser.error("at least one operation, one token, and two tasks for each token")
    return given.tasks, given.operations, given.tokens


if __name__ == "__main__":
    main(*arguments())
