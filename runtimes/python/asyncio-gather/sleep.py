"""One coroutine per task, passed to asyncio.gather, which makes a task of each."""

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
    await asyncio.gather(*(task(tasks, seconds) for _ in range(tasks)))
    print("done", finished)


if __name__ == "__main__":
    asyncio.run(main())
