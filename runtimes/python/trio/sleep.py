"""One trio task per task, in a nursery."""

import sys

import trio

started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await trio.sleep(seconds)
    finished += 1


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(task, tasks, seconds)
    print("done", finished)


if __name__ == "__main__":
    trio.run(main)
