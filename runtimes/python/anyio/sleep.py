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


async def main(tasks, seconds):
    async with anyio.create_task_group() as group:
        for _ in range(tasks):
            group.start_soon(task, tasks, seconds)
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
    anyio.run(main, *numbers)
