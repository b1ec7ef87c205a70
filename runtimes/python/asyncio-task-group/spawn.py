"""One asyncio task per operation, in a TaskGroup for each round."""

import asyncio
import sys


async def task(number):
    return number


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        numbers = range(first, min(first + tasks, operations))
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(task(number)) for number in numbers]
        total += sum(each.result() for each in running)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    asyncio.run(main())
