"""One curio task per node of a tree, in the task group of its parent, which has their sums."""

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


async def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        root = await curio.spawn(node, 0, tasks)
        total += await root.join()
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
    curio.run(main, *numbers)
