"""One OS thread per task, all of which share a dict."""

import os
import sys
import threading

FILLED = 65_536


def key(i):
    return i * 2_654_435_761 % 2**32


def task(entries, first, end, results, slot):
    # Without a lock: Python documents that getting and setting an item of a dict are atomic.
    total = 0
    for j in range(first, end):
        i = FILLED + j
        entries[key(i)] = i
        total += entries[key(j % FILLED)]
    results[slot] = total


def main():
    tasks, operations = map(int, sys.argv[1:])
    entries = {key(i): i for i in range(FILLED)}
    print("ready", flush=True)
    results = [None] * tasks
    threads = []
    first = 0
    try:
        for slot in range(tasks):
            end = (slot + 1) * operations // tasks
            thread = threading.Thread(target=task, args=(entries, first, end, results, slot))
            thread.start()
            threads.append(thread)
            first = end
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), operations - first, error)
    for thread in threads:
        thread.join()
    print("done", operations)
    print("check", sum(results) + len(entries))


def give_up(tasks, launched, left, error):
    print(f"cannot start task {launched + 1} of {tasks}: {error}", file=sys.stderr)
    print("failed", left, flush=True)
    os._exit(1)  # sys.exit would wait for the threads


if __name__ == "__main__":
    main()
