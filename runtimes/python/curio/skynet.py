"""One curio task per node of a tree: a node opens a task group for its ten children, which has their sums."""

import sys

import curio


async def node(first, leaves):
    if leaves == 1:
        return first
    size = leaves // 10
    async with curio.TaskGroup() as group:
        for child in range(10):
            await group.spawn(node, first + child * size, size)
    return sum(group.results)


async def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        root = await curio.spawn(node, 0, tasks)
        total += await root.join()
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    curio.run(main)
