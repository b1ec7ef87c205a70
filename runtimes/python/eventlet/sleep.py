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


def main(tasks, seconds):
    for thread in [eventlet.spawn(task, tasks, seconds) for _ in range(tasks)]:
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
        print("usage: sleep.py <tasks> <seconds>: whole numbers, at least one task", file=sys.stderr)
        sys.exit(2)
    main(*numbers)
