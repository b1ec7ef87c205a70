"""One greenlet per task."""

import sys

import gevent

started = finished = 0


def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    gevent.sleep(seconds)
    finished += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    gevent.joinall([gevent.spawn(task, tasks, seconds) for _ in range(tasks)], raise_error=True)
    print("done", finished)


if __name__ == "__main__":
    main()
