"""One asyncio task per task, all of which share a dict."""

import asyncio
import sys

FILLED = 65_536


def key(i):
    return i * 2_654_435_761 % 2**32


async def task(entries, first, end):
    total = 0
    for j in range(first, end):
        i = FILLED + j
        entries[key(i)] = i
        total += entries[key(j % FILLED)]
    return total


async def main():
    tasks, operations = map(int, sys.argv[1:])
    entries = {key(i): i for i in range(FILLED)}
    print("ready", flush=True)
    running = [
        asyncio.create_task(
            task(entries, number * operations // tasks, (number + 1) * operations // tasks)
        )
        for number in range(tasks)
    ]
    total = 0
    for each in running:
        total += await each
    print("done", operations)
    print("check", total + len(entries))


if __name__ == "__main__":
    asyncio.run(main())
