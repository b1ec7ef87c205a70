"""One curio task per task, in a task group, each waiting for one message."""

import sys

import curio

started = finished = 0


async def task(tasks, mailbox):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await mailbox.wait()
    finished += 1


async def main(tasks, seconds):
    due = await curio.clock() + seconds
    mailboxes = [curio.Event() for _ in range(tasks)]
    async with curio.TaskGroup() as group:
        for mailbox in mailboxes:
            await group.spawn(task, tasks, mailbox)
        await curio.sleep(max(0, due - await curio.clock()))
        for mailbox in mailboxes:
            await mailbox.set()
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
        print("usage: park.py <tasks> <seconds>: whole numbers, at least one task", file=sys.stderr)
        sys.exit(2)
    curio.run(main, *numbers)
