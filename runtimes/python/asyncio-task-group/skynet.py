"""One asyncio task per node of a tree: a node opens a TaskGroup for its ten children."""

import asyncio
import sys


async def node(first, leaves):
    if leaves == 1:
        return first
    size = leaves // 10
    async with asyncio.TaskGroup() as group:
        children = [group.create_task(node(first + child * size, size)) for child in range(10)]
    return sum(child.result() for child in children)


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        async with asyncio.TaskGroup() as group:
            root = group.create_task(node(0, tasks))
        total += root.result()
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    asyncio.run(main())
