"""One trio task per task, in a nursery, each waiting for an event of its own."""

import sys

import trio

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
    wake_at = trio.current_time() + seconds
    events = [trio.Event() for _ in range(tasks)]
    async with trio.open_nursery() as nursery:
        for event in events:
            nursery.start_soon(task, tasks, event)
        await trio.sleep_until(wake_at)
        for event in events:
            event.set()
    print("done", finished)


if __name__ == "__main__":
    trio.run(main)
