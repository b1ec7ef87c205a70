"""One trio task per task, in a nursery, each waiting for one message."""

import sys

import trio

started = finished = 0


async def task(tasks, mailbox):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await mailbox.wait()
    finished += 1


async def main(tasks, seconds):
    due = trio.current_time() + seconds
    mailboxes = [trio.Event() for _ in range(tasks)]
    async with trio.open_nursery() as nursery:
        for mailbox in mailboxes:
            nursery.start_soon(task, tasks, mailbox)
        await trio.sleep_until(due)
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
    trio.run(main, *numbers)
