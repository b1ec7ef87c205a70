"""One OS thread per task."""

import os
import sys
import threading
import time

started = finished = 0
lock = threading.Lock()  # += is not atomic


def task(tasks, seconds):
    global started, finished
    with lock:
        started += 1
        if started == tasks:
            print("alive", started - finished, flush=True)
    time.sleep(seconds)
    with lock:
        finished += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    threads = []
    try:
        for _ in range(tasks):
            thread = threading.Thread(target=task, args=(tasks, seconds))
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), error)
    for thread in threads:
        thread.join()
    print("done", finished)


def give_up(tasks, launched, error):
    print(f"cannot start task {launched + 1} of {tasks}: {error}", file=sys.stderr)
    print("done", finished)
    print("failed", tasks - launched, flush=True)
    os._exit(1)  # sys.exit would wait for the threads


if __name__ == "__main__":
    main()
