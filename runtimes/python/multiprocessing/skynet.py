"""One process per node of a tree, joined by its parent, with a queue in each branch for the sums of its children."""

import multiprocessing
import sys


def node(first, leaves, sums):
    sums.put(first if leaves == 1 else fork(10, first, leaves // 10))


def fork(count, first, leaves):
    """Starts so many nodes of so many leaves each, and returns what they come to; None where a process is refused."""
    children = []
    try:
        sums = multiprocessing.SimpleQueue()
        for child in range(count):
            process = multiprocessing.Process(target=node, args=(first + child * leaves, leaves, sums))
            process.start()
            children.append(process)
    except (OSError, MemoryError) as error:
        print(f"cannot start a tree of tasks: {error}", file=sys.stderr)
    results = [sums.get() for _ in children]
    for child in children:
        child.join()
    return sum(results) if len(children) == count and None not in results else None


def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for done in range(0, operations, tasks):
        tree = fork(1, 0, tasks)
        if tree is None:
            print("done", done)
            print("failed", operations - done)
            sys.exit(1)
        total += tree
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
    multiprocessing.set_start_method("fork")  # on every version: 3.14 made forkserver the default
    main(*numbers)
