"""One asyncio task per task, made by create_task, each a heartbeat: it wakes once in every period."""

import argparse
import asyncio
from time import monotonic

started = finished = 0
late = [0] * 32  # bucket b: ticks late by less than 2^b µs, and not less than half of that


async def task(given, number):
    global started, finished
    due = given.begin + given.period * number / given.tasks
    start = monotonic()
    while due < start:
        due += given.period
    started += 1
    if started == given.tasks:
        print("alive", started - finished, flush=True)
    while due < given.end:
        await asyncio.sleep(due - monotonic())
        now = monotonic()
        if now >= given.end:
            break
        if started == given.tasks:
            count(now - due)
        due += given.period
    await asyncio.sleep(given.end - monotonic())
    finished += 1


def count(seconds):
    late[min(max(int(seconds * 1e6), 0).bit_length(), len(late) - 1)] += 1


async def compute(given):
    """Computes, yields, and so on."""
    while monotonic() < given.end:
        until = monotonic() + given.hog
        while monotonic() < until:
            pass
        await asyncio.sleep(0)


async def main(given):
    given.begin = monotonic()
    given.end = given.begin + given.seconds
    running = [asyncio.create_task(task(given, number)) for number in range(given.tasks)]
    running += [asyncio.create_task(compute(given)) for _ in range(given.hogs)]
    for each in running:
        await each
    print("done", finished)
    print("histogram late_us", *late)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--period-ms", type=int, default=1000)
    parser.add_argument("--hogs", type=int, default=0, help="tasks that compute without waiting")
    parser.add_argument("--hog-ms", type=int, default=10, help="how long they do before they yield")
    given = parser.parse_args()
    if given.tasks < 1 or given.seconds < 0 or given.period_ms < 1 or given.hogs < 0 or given.hog_ms < 1:
        parser.error("at least one task and millisecond")
    given.period, given.hog = given.period_ms / 1000, given.hog_ms / 1000
    return given


if __name__ == "__main__":
    asyncio.run(main(arguments()))
