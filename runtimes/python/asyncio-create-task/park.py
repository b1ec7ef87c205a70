"""One asyncio task per task, made by create_task, each waiting for one message."""

import asyncio
import sys

started = finished = 0


async def task(tasks, mailbox):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    await mailbox
    finished += 1


async def main(tasks, seconds):
    loop = asyncio.get_running_loop()
    due = loop.time() + seconds
    mailboxes = [loop.create_future() for _ in range(tasks)]
    running = [asyncio.create_task(task(tasks, mailbox)) for mailbox in mailboxes]
    await asyncio.sleep(due - loop.time())
    for mailbox in mailboxes:
        mailbox.set_result(None)
    for each in running:
        await each
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
    asyncio.run(main(*numbers))
