"""One thread of the operating system per node of a tree, joined by its parent, with a slot for its sum."""

import os
import sys
import threading

asked = done = 0  # operations
lock = threading.Lock()


def node(first, leaves, sums, slot):
    sums[slot] = first if leaves == 1 else fork(10, first, leaves // 10)


def fork(count, first, leaves):
    """Starts so many nodes of so many leaves each, and returns what they come to."""
    sums = [None] * count
    threads = []
    try:
        for slot in range(count):
            thread = threading.Thread(target=node, args=(first + slot * leaves, leaves, sums, slot))
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError) as error:
        give_up(error)
    for thread in threads:
        thread.join()
    return sum(sums)


def main(tasks, operations):
    global asked, done
    asked = operations
    print("ready", flush=True)
    total = 0
    while done < operations:
        total += fork(1, 0, tasks)
        done += tasks
    print("done", operations)
    print("check", total)


def give_up(error):
    with lock:  # for good: others that are refused a thread have nothing to add
        print(f"cannot start a tree of tasks: {error}", file=sys.stderr)
        print("done", done)
        print("failed", asked - done, flush=True)
        os._exit(1)  # sys.exit would end this thread only


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
