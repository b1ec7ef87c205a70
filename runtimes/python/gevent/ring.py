"""A ring of greenlets: each takes tokens from its own queue and puts them into the next one's.

A token is the number of hops that it has left.
"""

import argparse

import gevent
from gevent.event import Event
from gevent.queue import Queue

started = 0
all_started = Event()
results = Queue()


def task(tasks, number, queue, next_queue):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.set()
    while True:
        hops = queue.get()
        if hops > 0:
            next_queue.put(hops - 1)
        else:
            results.put(number)


def main():
    tasks, operations, tokens = arguments()
    queues = [Queue(1) for _ in range(tasks)]
    for number in range(tasks):
        gevent.spawn(task, tasks, number, queues[number], queues[(number + 1) % tasks])
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        queues[token * tasks // tokens].put(hops)
    total = sum(results.get() for _ in range(tokens))
    print("done", operations)
    print("check", total)  # the greenlets end with the program


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    main()
