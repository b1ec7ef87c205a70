"""One asyncio task per task, in a TaskGroup."""

import asyncio
import sys

started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await asyncio.sleep(seconds)
    finished += 1


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    async with asyncio.TaskGroup() as group:
        for _ in range(tasks):
            group.create_task(task(tasks, seconds))
    print("done", finished)


if __name__ == "__main__":
    asyncio.run(main())
