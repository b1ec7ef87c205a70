"""One OS thread per task, each waiting for an event of its own."""

import os
import sys
import threading
import time

started = finished = 0
lock = threading.Lock()  # += is not atomic


def task(tasks, event):
    global started, finished
    with lock:
        started += 1
        if started == tasks:
            print("alive", started - finished, flush=True)
    event.wait()
    with lock:
        finished += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    wake_at = time.monotonic() + seconds
    threads = []
    events = []
    try:
        for _ in range(tasks):
            event = threading.Event()
            thread = threading.Thread(target=task, args=(tasks, event))
            thread.start()
            threads.append(thread)
            events.append(event)
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), error)
    time.sleep(max(0, wake_at - time.monotonic()))
    for event in events:
        event.set()
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
