"""One greenlet per node of a tree: a node waits for its ten children and returns their sum."""

import sys

import gevent


def node(first, leaves):
    if leaves == 1:
        return first
    size = leaves // 10
    children = [gevent.spawn(node, first + child * size, size) for child in range(10)]
    return sum(child.get() for child in children)


def main():
    tasks, operations = map(int, sys.argv[1:])
    print("ready", flush=True)
    total = 0
    for _ in range(operations // tasks):
        total += gevent.spawn(node, 0, tasks).get()
    print("done", operations)
    print("check", total)


if __name__ == "__main__":
    main()
