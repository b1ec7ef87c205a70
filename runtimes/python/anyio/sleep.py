"""One anyio task per task, in a task group."""

import sys

import anyio

started = finished = 0


async def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await anyio.sleep(seconds)
    finished += 1


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    async with anyio.create_task_group() as group:
        for _ in range(tasks):
            group.start_soon(task, tasks, seconds)
    print("done", finished)


if __name__ == "__main__":
    anyio.run(main)
