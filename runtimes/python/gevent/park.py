"""One greenlet per task, each waiting for an event of its own."""

import sys
import time

import gevent
from gevent.event import Event

started = finished = 0


def task(tasks, event):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    event.wait()
    finished += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    wake_at = time.monotonic() + seconds
    events = [Event() for _ in range(tasks)]
    greenlets = [gevent.spawn(task, tasks, event) for event in events]
    gevent.sleep(max(0, wake_at - time.monotonic()))
    for event in events:
        event.set()
    gevent.joinall(greenlets, raise_error=True)
    print("done", finished)


if __name__ == "__main__":
    main()
