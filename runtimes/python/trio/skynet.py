"""One trio task per node of a tree: a node opens a nursery for its ten children."""

import sys

import trio


async def node(first, leaves, sums):
    """Appends its sum to `sums`: a nursery keeps no results."""
    if leaves == 1:
        sums.append(first)
        return
    size = leaves // 10
    children = []
    async with trio.open_nursery() as nursery:
        for child in range(10):
            nursery.start_soon(node, first + child * size, size, children)
    sums.append(sum(children))


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        sums = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(node, 0, tasks, sums)
        total += sum(sums)
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    trio.run(main)
