"""One process per operation, started and joined; it puts its result into a queue."""

import multiprocessing
import resource
import sys


def task(number, results):
    results.put(number)


def main():
    tasks, operations = map(int, sys.argv[1:])
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
    """Lets the parent keep pipes of all processes open: more than the usual 1,024 files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")  # the default before Python 3.14
    raise_file_limit()
    main()
