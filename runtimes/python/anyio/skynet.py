"""One anyio task per node of a tree: a node opens a task group for its ten children."""

import sys

import anyio


async def node(first, leaves, sums):
    """Appends its sum to `sums`: a task group keeps no results."""
    if leaves == 1:
        sums.append(first)
        return
    size = leaves // 10
    children = []
    async with anyio.create_task_group() as group:
        for child in range(10):
            group.start_soon(node, first + child * size, size, children)
    sums.append(sum(children))


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        sums = []
        async with anyio.create_task_group() as group:
            group.start_soon(node, 0, tasks, sums)
        total += sum(sums)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    anyio.run(main)
