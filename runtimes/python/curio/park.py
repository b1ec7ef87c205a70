"""One curio task per task, in a task group, each waiting for an event of its own."""

import sys

import curio

started = finished = 0


async def task(tasks, event):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await event.wait()
    finished += 1


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    wake_at = await curio.clock() + seconds
    events = [curio.Event() for _ in range(tasks)]
    async with curio.TaskGroup() as group:
        for event in events:
            await group.spawn(task, tasks, event)
        await curio.sleep(max(0, wake_at - await curio.clock()))
        for event in events:
            await event.set()
    print("done", finished)


if __name__ == "__main__":
    curio.run(main)
