"""One asyncio task per task, made by create_task and awaited in turn."""

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
    running = [asyncio.create_task(task(tasks, seconds)) for _ in range(tasks)]
    for each in running:
        await each
    print("done", finished)


if __name__ == "__main__":
    asyncio.run(main())
