"""One anyio task per task, in a task group, each waiting for an event of its own."""

import sys

import anyio

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
    wake_at = anyio.current_time() + seconds
    events = [anyio.Event() for _ in range(tasks)]
    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(task, tasks, event)
        await anyio.sleep_until(wake_at)
        for event in events:
            event.set()
    print("done", finished)


if __name__ == "__main__":
    anyio.run(main)
