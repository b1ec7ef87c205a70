"""One trio task per operation, in a nursery for each round."""

import sys

import trio


async def task(number, results):
    results.append(number)  # a nursery keeps no results


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        results = []
        async with trio.open_nursery() as nursery:
            for number in range(first, min(first + tasks, operations)):
                nursery.start_soon(task, number, results)
        total += sum(results)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    trio.run(main)
