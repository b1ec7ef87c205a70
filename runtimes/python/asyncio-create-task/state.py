"""One asyncio task per task, each of which keeps bytes of its own while it sleeps."""

import argparse
import asyncio

started = finished = 0
pattern = b""  # byte k of task i is (i + k) % 251: a slice of this


async def task(args, number):
    global finished
    total = await hold(args, number, args.depth)
    finished += 1
    return total


async def hold(args, number, depth):
    """Fills the task's bytes `depth` calls down, sleeps, and returns their sum."""
    global started
    if depth > 1:
        return await hold(args, number, depth - 1)
    first = number % 251
    state = bytearray(pattern[first : first + args.bytes])
    started += 1
    if started == args.tasks:
        print("alive", started - finished, flush=True)
    await asyncio.sleep(args.seconds)
    return sum(state)


async def main():
    global pattern
    args = arguments()
    pattern = memoryview(bytes(k % 251 for k in range(args.bytes + 250)))
    running = [asyncio.create_task(task(args, number)) for number in range(args.tasks)]
    total = sum([await each for each in running])
    print("done", finished)
    print("check", total)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--depth", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
