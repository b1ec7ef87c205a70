"""One greenlet per operation, spawned and waited for, which returns its result."""

import sys

import gevent


def task(number):
    return number


def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        numbers = range(first, min(first + tasks, operations))
        greenlets = [gevent.spawn(task, number) for number in numbers]
        total += sum(greenlet.get() for greenlet in greenlets)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    main()
