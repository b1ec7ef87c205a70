"""One process per task, each waiting for one message."""

import multiprocessing
import resource
import sys
import time


def task(tasks, mailbox, started, finished):
    with started.get_lock():
        started.value += 1
        if started.value == tasks:
            print("alive", tasks - finished.value, flush=True)
    mailbox.recv()
    with finished.get_lock():
        finished.value += 1


def main(tasks, seconds):
    due = time.monotonic() + seconds
    started = multiprocessing.Value("i")
    finished = multiprocessing.Value("i")
    processes = []
    senders = []
    try:
        for _ in range(tasks):
            mailbox, sender = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(target=task, args=(tasks, mailbox, started, finished))
            process.start()
            mailbox.close()  # the process has its own
            processes.append(process)
            senders.append(sender)
    except (OSError, MemoryError) as error:
        print(f"cannot start task {len(processes) + 1} of {tasks}: {error}", file=sys.stderr)
    time.sleep(max(0, due - time.monotonic()))
    for sender in senders:
        sender.send(None)
    for process in processes:
        process.join()
    print("done", finished.value)
    if finished.value < tasks:
        print("failed", tasks - finished.value)
        sys.exit(1)


def raise_file_limit():
    """The parent keeps pipes of each process open, together more than the usual 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


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
    multiprocessing.set_start_method("fork")  # on every version: 3.14 made forkserver the default
    raise_file_limit()
    main(*numbers)
