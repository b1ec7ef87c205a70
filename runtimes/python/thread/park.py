"""One thread of the operating system per task, each waiting for one message."""

import os
import sys
import threading
import time

started = finished = 0
lock = threading.Lock()  # += is not atomic


def task(tasks, mailbox):
    global started, finished
    with lock:
        started += 1
        if started == tasks:
            print("alive", started - finished, flush=True)
    mailbox.wait()
    with lock:
        finished += 1


def main(tasks, seconds):
    due = time.monotonic() + seconds
    threads = []
    mailboxes = []
    try:
        for _ in range(tasks):
            mailbox = threading.Event()
            thread = threading.Thread(target=task, args=(tasks, mailbox))
            thread.start()
            threads.append(thread)
            mailboxes.append(mailbox)
    except (RuntimeError, MemoryError) as error:
        give_up(tasks, len(threads), error)
    time.sleep(max(0, due - time.monotonic()))
    for mailbox in mailboxes:
        mailbox.set()
    for thread in threads:
        thread.join()
    print("done", finished)


def give_up(tasks, launched, error):
    print(f"cannot start task {launched + 1} of {tasks}: {error}", file=sys.stderr)
    print("done", finished)
    print("failed", tasks - launched, flush=True)
    os._exit(1)  # sys.exit would wait for the threads


def arguments():
    try:
        tasks, seconds = map(int, sys.argv[1:])
    except ValueError:
        return None
    return (tasks, seconds) if tasks >= 1 and seconds >= 0 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: park.py <tasks> <seconds>: whole numbers, at least one task", file=sys.stderr)
        sys.exit(2)
    main(*numbers)
