"""One asyncio task per task, each a heartbeat that wakes once in every period."""

import argparse
import asyncio
from time import monotonic

started = finished = 0
late = [0] * 32  # bucket b: ticks that were late by less than 2^b µs, and by at least half of that


async def task(args, number):
    global started, finished
    due = args.begin + args.period * number / args.tasks
    start = monotonic()
    while due < start:
        due += args.period
    started += 1
    if started == args.tasks:
        print("alive", started - finished, flush=True)
    while due < args.end:
        await asyncio.sleep(due - monotonic())
        now = monotonic()
        if now >= args.end:
            break
        if started == args.tasks:
            count(now - due)
        due += args.period
    await asyncio.sleep(args.end - monotonic())
    finished += 1


def count(seconds):
    late[min(max(int(seconds * 1e6), 0).bit_length(), len(late) - 1)] += 1


async def hog(args):
    """Computes without waiting, yields, and starts again."""
    while monotonic() < args.end:
        until = monotonic() + args.hog_seconds
        while monotonic() < until:
            pass
        await asyncio.sleep(0)


async def main():
    args = arguments()
    args.begin = monotonic()
    args.end = args.begin + args.seconds
    args.period, args.hog_seconds = args.period_ms / 1000, args.hog_ms / 1000
    running = [asyncio.create_task(task(args, number)) for number in range(args.tasks)]
    running += [asyncio.create_task(hog(args)) for _ in range(args.hogs)]
    for each in running:
        await each
    print("done", finished)
    print("histogram late_us", *late)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--period-ms", type=int, default=1000)
    parser.add_argument("--hogs", type=int, default=0)
    parser.add_argument("--hog-ms", type=int, default=10)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
