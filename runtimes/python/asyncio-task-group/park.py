"""One asyncio task per task, in a TaskGroup, each awaiting a future of its own."""

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


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    loop = asyncio.get_running_loop()
    wake_at = loop.time() + seconds
    mailboxes = [loop.create_future() for _ in range(tasks)]
    async with asyncio.TaskGroup() as group:
        for mailbox in mailboxes:
            group.create_task(task(tasks, mailbox))
        await asyncio.sleep(wake_at - loop.time())
        for mailbox in mailboxes:
            mailbox.set_result(None)
    print("done", finished)


if __name__ == "__main__":
    asyncio.run(main())
