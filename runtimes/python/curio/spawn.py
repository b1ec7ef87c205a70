"""One curio task per operation, in a task group for each round, which has their results."""

import sys

import curio


async def task(number):
    return number


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        async with curio.TaskGroup() as group:
            for number in range(first, min(first + tasks, operations)):
                await group.spawn(task, number)
        total += sum(group.results)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    curio.run(main)
