"""One anyio task per operation, in a task group that waits for all of a round."""

import sys

import anyio


async def task(number, results):
    results.append(number)  # a task group keeps no results


async def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        results = []
        async with anyio.create_task_group() as group:
            for number in range(first, min(first + tasks, operations)):
                group.start_soon(task, number, results)
        total += sum(results)
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
    anyio.run(main, *numbers)
