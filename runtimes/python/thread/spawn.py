"""One OS thread per operation, started and joined; it stores its result in a list."""

import os
import sys
import threading


def task(results, slot, number):
    results[slot] = number


def main():
    tasks, operations = map(int, sys.argv[1:])
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


if __name__ == "__main__":
    main()
