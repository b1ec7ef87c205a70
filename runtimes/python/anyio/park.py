"""One anyio task per task, in a task group, each waiting for one message."""

import sys

import anyio

started = finished = 0


async def task(tasks, mailbox):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await mailbox.wait()
    finished += 1


async def main(tasks, seconds):
    due = anyio.current_time() + seconds
    mailboxes = [anyio.Event() for _ in range(tasks)]
    async with anyio.create_task_group() as group:
        for mailbox in mailboxes:
            group.start_soon(task, tasks, mailbox)
        await anyio.sleep_until(due)
        for mailbox in mailboxes:
            mailbox.set()
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
    anyio.run(main, *numbers)
