"""A ring of green threads: each takes tokens from its own queue and puts them into the next one's.

A token is the number of hops that it has left.
"""

import argparse

import eventlet
from eventlet.event import Event
from eventlet.queue import LightQueue

started = 0
all_started = Event()
results = LightQueue()


def task(tasks, number, queue, next_queue):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.send()
    while True:
        hops = queue.get()
        if hops > 0:
            next_queue.put(hops - 1)
        else:
            results.put(number)


def main():
    tasks, operations, tokens = arguments()
    queues = [LightQueue(1) for _ in range(tasks)]
    for number in range(tasks):
        eventlet.spawn(task, tasks, number, queues[number], queues[(number + 1) % tasks])
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        queues[token * tasks // tokens].put(hops)
    total = sum(results.get() for _ in range(tokens))
    print("done", operations)
    print("check", total)  # the green threads end with the program


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    main()
