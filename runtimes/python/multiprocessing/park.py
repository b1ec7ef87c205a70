"""One process per task, each waiting for a message from a pipe of its own."""

import multiprocessing
import resource
import sys
import time


def task(tasks, receiver, started, finished):
    with started.get_lock():
        started.value += 1
        if started.value == tasks:
            print("alive", tasks - finished.value, flush=True)
    receiver.recv()
    with finished.get_lock():
        finished.value += 1


def main():
    tasks, seconds = map(int, sys.argv[1:])
    wake_at = time.monotonic() + seconds
    started = multiprocessing.Value("i")
    finished = multiprocessing.Value("i")
    processes = []
    senders = []
    try:
        for _ in range(tasks):
            receiver, sender = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(target=task, args=(tasks, receiver, started, finished))
            process.start()
            receiver.close()  # the process has its own
            processes.append(process)
            senders.append(sender)
    except (OSError, MemoryError) as error:
        print(f"cannot start task {len(processes) + 1} of {tasks}: {error}", file=sys.stderr)
    time.sleep(max(0, wake_at - time.monotonic()))
    for sender in senders:
        sender.send(None)
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
