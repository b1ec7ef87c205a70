"""One thread of the operating system per operation, made and joined, with a slot for its result."""

import os
import sys
import threading


def task(results, slot, number):
    results[slot] = number


def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        numbers = range(first, min(first + tasks, operations))
        results = [None] * len(numbers)
        threads = []
        try:
            for slot, number in enumerate(numbers):
                thread = threading.Thread(target=task, args=(results, slot, number))
                thread.start()
                threads.append(thread)
        except (RuntimeError, MemoryError) as error:
            give_up(tasks, first, operations, error)
        for thread in threads:
            thread.join()
        total += sum(results)
    print("done", operations)
    print("check", total)


def give_up(tasks, done, operations, error):
    print(f"cannot start {tasks} tasks at once: {error}", file=sys.stderr)
    print("done", done)
    print("failed", operations - done, flush=True)
    os._exit(1)  # sys.exit would wait for the threads


def arguments():
    try:
        tasks, operations = map(int, sys.argv[1:])
    except ValueError:
        return None
    return (tasks, operations) if tasks >= 1 and operations >= 1 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: spawn.py <tasks> <operations>: whole numbers, at least one of each", file=sys.stderr)
        sys.exit(2)
    main(*numbers)
