"""One green thread per task."""

import sys

import eventlet

started = finished = 0


def task(tasks, seconds):
    global started, finished
    started += 1
    if started == tasks:
        print("alive", started - finished, flush=True)
    eventlet.sleep(seconds)
    finished += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    for thread in [eventlet.spawn(task, tasks, seconds) for _ in range(tasks)]:
        thread.wait()
    print("done", finished)


if __name__ == "__main__":
    main()
