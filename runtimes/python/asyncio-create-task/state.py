"""One asyncio task per task, made by create_task, each holding bytes of its own while it waits."""

import argparse
import asyncio

started = finished = 0
pattern = b""  # byte k of task i is (i + k) % 251: a part of this


async def task(given, number):
    global finished
    total = await hold(given, number, given.depth)
    finished += 1
    return total


async def hold(given, number, depth):
    """Fills the bytes of a task so many calls down, waits, and sums them."""
    global started
    if depth > 1:
        return await hold(given, number, depth - 1)
    first = number % 251
    state = bytearray(pattern[first : first + given.bytes])
    started += 1
    if started == given.tasks:
        print("alive", started - finished, flush=True)
    await asyncio.sleep(given.seconds)
    return sum(state)


async def main(given):
    global pattern
    pattern = memoryview(bytes(k % 251 for k in range(given.bytes + 250)))
    running = [asyncio.create_task(task(given, number)) for number in range(given.tasks)]
    total = sum([await each for each in running])
    print("done", finished)
    print("check", total)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--bytes", type=int, default=1024, help="how many a task holds")
    parser.add_argument("--depth", type=int, default=1, help="how many calls deep")
    given = parser.parse_args()
    if given.tasks < 1 or given.seconds < 0 or given.bytes < 1 or given.depth < 1:
        parser.error("at least one task, byte and call")
    return given


if __name__ == "__main__":
    asyncio.run(main(arguments()))
