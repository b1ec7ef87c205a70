"""One thread of the operating system per place of a ring, each with a queue of one from which it takes tokens."""

import argparse
import os
import queue
import sys
import threading

started = 0
lock = threading.Lock()  # += is not atomic
all_started = threading.Event()
noted = queue.SimpleQueue()


def task(tasks, number, mailbox, following):
    global started
    with lock:
        started += 1
        if started == tasks:
            print("alive", tasks, flush=True)
            all_started.set()
    while (hops := mailbox.get()) is not None:
        if hops > 0:
            following.put(hops - 1)
        else:
            noted.put(number)


def main(tasks, operations, tokens):
    ring = [queue.Queue(1) for _ in range(tasks)]
    threads = []
    try:
        for number in range(tasks):
            mailboxes = ring[number], ring[(number + 1) % tasks]
            thread = threading.Thread(target=task, args=(tasks, number, *mailboxes))
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), error)
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        ring[token * tasks // tokens].put(hops)
    total = sum(noted.get() for _ in range(tokens))
    print("done", operations)
    print("check", total, flush=True)
    for mailbox in ring:
        mailbox.put(None)
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
    parser.add_argument("--tokens", type=int, default=1, help="at most one for two tasks")
    given = parser.parse_args()
    if given.operations < 1 or not 1 <= given.tokens <= given.tasks // 2:
        parser.error("at least one operation, one token, and two tasks for each token")
    return given.tasks, given.operations, given.tokens


if __name__ == "__main__":
    main(*arguments())
