"""One coroutine per task, handed to asyncio.gather on uvloop instead of asyncio's own loop."""

import asyncio
import sys

import uvloop

started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await asyncio.sleep(seconds)
    finished += 1


async def main(tasks, seconds):
    await asyncio.gather(*(task(tasks, seconds) for _ in range(tasks)))
    print("done", finished)


def arguments():
    try:
        tasks, seconds = map(int, sys.argv[1:])
    except ValueError:
        return None
    return (tasks, seconds) if tasks >= 1 and seconds >= 0 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: sleep.py <tasks> <seconds>: whole numbers, at least one task", file=sys.stderr)
        sys.exit(2)
    uvloop.run(main(*numbers))
