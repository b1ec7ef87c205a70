"""One asyncio task per node of a tree: a node awaits its ten children and returns their sum."""

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


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        total += await asyncio.create_task(node(0, tasks))
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    asyncio.run(main())
