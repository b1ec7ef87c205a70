"""One OS thread per node of a tree: a node joins its ten children and adds up their sums."""

import os
import sys
import threading

operations = done = 0
lock = threading.Lock()


def node(first, leaves, sums, slot):
    sums[slot] = first if leaves == 1 else fork(10, first, leaves // 10)


def fork(count, first, leaves):
    """Starts `count` nodes of `leaves` leaves each, and returns their sum."""
    sums = [None] * count
    threads = []
    try:
        for slot in range(count):
            thread = threading.Thread(target=node, args=(first + slot * leaves, leaves, sums, slot))
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError) as error:
        give_up(error)
    for thread in threads:
        thread.join()
    return sum(sums)


def main():
    global operations, done
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    while done < operations:
        total += fork(1, 0, tasks)
        done += tasks
    print("done", operations)
    print("check", total)


def give_up(error):
    with lock:  # never released: only one thread reports the failure
        print(f"cannot start a tree of tasks: {error}", file=sys.stderr)
        print("done", done)
        print("failed", operations - done, flush=True)
        os._exit(1)  # sys.exit would end this thread only


if __name__ == "__main__":
    main()
