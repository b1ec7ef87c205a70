"""One coroutine per task, handed to asyncio.gather. Put your way of running tasks in its place."""

import asyncio
import sys

# Shared by all tasks: the proof must add nothing to what a task holds.
started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        # The last to start says how many are alive. Without flush the line would come at exit.
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
    asyncio.run(main(*numbers))
