"""One green thread per operation, spawned and waited for, which is its result."""

import sys

import eventlet


def task(number):
    return number


def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        numbers = range(first, min(first + tasks, operations))
        threads = [eventlet.spawn(task, number) for number in numbers]
        total += sum(thread.wait() for thread in threads)
    print("done", operations)
    print("check", total)


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
