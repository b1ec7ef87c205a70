"""One process per task."""

import multiprocessing
import resource
import sys
import time


def task(tasks, seconds, started, finished):
    with started.get_lock():
        started.value += 1
        if started.value == tasks:
            print("alive", tasks - finished.value, flush=True)
    time.sleep(seconds)
    with finished.get_lock():
        finished.value += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    started = multiprocessing.Value("i")
    finished = multiprocessing.Value("i")
    processes = []
    try:
        for _ in range(tasks):
            process = multiprocessing.Process(target=task, args=(tasks, seconds, started, finished))
            process.start()
            processes.append(process)
    except (OSError, MemoryError) as error:
        print(f"cannot start task {len(processes) + 1} of {tasks}: {error}", file=sys.stderr)
    for process in processes:
        process.join()
    print("done", finished.value)
    if finished.value < tasks:
        print("failed", tasks - finished.value)
        sys.exit(1)


def raise_file_limit():
    """Lets the parent keep pipes of all processes open: more than the usual 1,024 files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")  # the default before Python 3.14
    raise_file_limit()
    main()
