"""One asyncio task per node of a tree, made by create_task and awaited by its parent for its sum."""

import asyncio
import sys


async def node(first, leaves):
    if leaves == 1:
        return first
    size = leaves // 10
    children = [asyncio.create_task(node(first + child * size, size)) for child in range(10)]
    total = 0
    for child in children:
        total += await child
    return total


async def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        total += await asyncio.create_task(node(0, tasks))
    print("done", operations)
    print("check", total)


def arguments():
    try:
        tasks, operations = map(int, sys.argv[1:])
    except ValueError:
        return None
    is_power_of_ten = str(tasks).rstrip("0") == "1"
    return (tasks, operations) if is_power_of_ten and operations >= 1 and operations % tasks == 0 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: skynet.py <tasks> <operations>: tasks a power of ten, operations a multiple of them", file=sys.stderr)
        sys.exit(2)
    asyncio.run(main(*numbers))
