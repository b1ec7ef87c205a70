"""One anyio task per node of a tree, in the task group of its parent."""

import sys

import anyio


async def node(first, leaves, sums):
    """Appends its sum, as a task group keeps no results."""
    if leaves == 1:
        sums.append(first)
        return
    size = leaves // 10
    children = []
    async with anyio.create_task_group() as group:
        for child in range(10):
            group.start_soon(node, first + child * size, size, children)
    sums.append(sum(children))


async def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        sums = []
        async with anyio.create_task_group() as group:
            group.start_soon(node, 0, tasks, sums)
        total += sum(sums)
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
    anyio.run(main, *numbers)
