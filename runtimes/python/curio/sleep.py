"""One curio task per task, in a task group."""

import sys

import curio

started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await curio.sleep(seconds)
    finished += 1


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    async with curio.TaskGroup() as group:
        for _ in range(tasks):
            await group.spawn(task, tasks, seconds)
    print("done", finished)


if __name__ == "__main__":
    curio.run(main)
