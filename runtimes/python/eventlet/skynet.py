"""One green thread per node of a tree, waited for by its parent for its sum."""

import sys

import eventlet


def node(first, leaves):
    if leaves == 1:
        return first
    size = leaves // 10
    children = [eventlet.spawn(node, first + child * size, size) for child in range(10)]
    return sum(child.wait() for child in children)


def main(tasks, operations):
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        total += eventlet.spawn(node, 0, tasks).wait()
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
    main(*numbers)
