"""One process per operation, made and joined, with a queue for the results of a round."""

import multiprocessing
import resource
import sys


def task(number, results):
    results.put(number)


def main(tasks, operations):
    results = multiprocessing.SimpleQueue()
    print("ready", flush=True)
    total = 0
    for first in range(0, operations, tasks):
        processes = []
        try:
            for number in range(first, min(first + tasks, operations)):
                process = multiprocessing.Process(target=task, args=(number, results))
                process.start()
                processes.append(process)
        except (OSError, MemoryError) as error:
            print(f"cannot start {tasks} tasks at once: {error}", file=sys.stderr)
        total += sum(results.get() for _ in processes)
        for process in processes:
            process.join()
        done = first + len(processes)
        if done < min(first + tasks, operations):
            print("done", done)
            print("failed", operations - done)
            sys.exit(1)
    print("done", operations)
    print("check", total)


def raise_file_limit():
    """The parent keeps pipes of each process open, together more than the usual 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def arguments():
    try:
        tasks, operations = map(int, sys.argv[1:])
    except ValueError:
        return None
    return (tasks, operations) if tasks >= 1 and operations >= 1 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: spawn.py <tasks> <operations>: whole numbers, at least one of each", file=sys.stderr)
        sys.exit(2)
    multiprocessing.set_start_method("fork")  # on every version: 3.14 made forkserver the default
    raise_file_limit()
    main(*numbers)
