"""One coroutine per operation, handed to asyncio.gather round by round. Put your way of running tasks in its place."""

import asyncio
import sys


async def task(number):
    return number


async def main(tasks, operations):
    # All is prepared. Without flush the line would come at exit.
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        numbers = range(first, min(first + tasks, operations))
        total += sum(await asyncio.gather(*(task(number) for number in numbers)))
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
    asyncio.run(main(*numbers))
