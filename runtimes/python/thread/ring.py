"""A ring of OS threads: each takes tokens from its own queue and puts them into the next thread's.

A token is the number of hops that it has left.
"""

import argparse
import os
import queue
import sys
import threading

started = 0
lock = threading.Lock()  # += is not atomic
all_started = threading.Event()
results = queue.SimpleQueue()


def task(tasks, number, inbox, next_inbox):
    global started
    with lock:
        started += 1
        if started == tasks:
            print("alive", tasks, flush=True)
            all_started.set()
    while (hops := inbox.get()) is not None:
        if hops > 0:
            next_inbox.put(hops - 1)
        else:
            results.put(number)


def main():
    tasks, operations, tokens = arguments()
    inboxes = [queue.Queue(1) for _ in range(tasks)]
    threads = []
    try:
        for number in range(tasks):
            args = tasks, number, inboxes[number], inboxes[(number + 1) % tasks]
            thread = threading.Thread(target=task, args=args)
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), error)
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        inboxes[token * tasks // tokens].put(hops)
    total = sum(results.get() for _ in range(tokens))
    print("done", operations)
    print("check", total, flush=True)
    for inbox in inboxes:
        inbox.put(None)
    for thread in threads:
        thread.join()


def give_up(tasks, launched, error):
    print(f"cannot start task {launched + 1} of {tasks}: {error}", file=sys.stderr)
    print("failed", tasks - launched, flush=True)
    os._exit(1)  # sys.exit would wait for the threads


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    main()
