"""One asyncio task per operation, made by create_task and awaited for its result."""

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
        running = [asyncio.create_task(task(number)) for number in numbers]
        for each in running:
            total += await each
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    asyncio.run(main())
