"""One anyio task per operation, in a task group for each round."""

import sys

import anyio


async def task(number, results):
    results.append(number)  # a task group keeps no results


async def main():
    tasks, operations = map(int, sys.argv[1:])
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


if __name__ == "__main__":
    anyio.run(main)
