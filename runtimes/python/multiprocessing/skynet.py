"""One process per node of a tree: a node takes its ten children's sums from a queue and joins them."""

import multiprocessing
import sys


def node(first, leaves, sums):
    sums.put(first if leaves == 1 else fork(10, first, leaves // 10))


def fork(count, first, leaves):
    """Starts `count` nodes of `leaves` leaves each, and returns their sum, or None where a process could not be started."""
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


def main():
    tasks, operations = map(int, sys.argv[1:])
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


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")  # the default before Python 3.14
    main()
