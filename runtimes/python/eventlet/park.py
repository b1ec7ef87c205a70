"""One green thread per task, each waiting for one message."""

import sys
import time

import eventlet
from eventlet.event import Event

started = finished = 0


def task(tasks, mailbox):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    mailbox.wait()
    finished += 1


def main(tasks, seconds):
    due = time.monotonic() + seconds
    mailboxes = [Event() for _ in range(tasks)]
    threads = [eventlet.spawn(task, tasks, mailbox) for mailbox in mailboxes]
    eventlet.sleep(max(0, due - time.monotonic()))
    for mailbox in mailboxes:
        mailbox.send()
    for thread in threads:
        thread.wait()
    print("done", finished)


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
