"""One process per place of a ring, each with a pipe from which it takes tokens."""

import argparse
import multiprocessing
import resource
import sys


def task(tasks, number, mailbox, following, started, all_started, noted):
    with started.get_lock():
        started.value += 1
        if started.value == tasks:
            print("alive", tasks, flush=True)
            all_started.set()
    while (hops := mailbox.recv()) is not None:
        if hops > 0:
            following.send(hops - 1)
        else:
            noted.put(number)


def main(tasks, operations, tokens):
    started = multiprocessing.Value("i")
    all_started = multiprocessing.Event()
    noted = multiprocessing.SimpleQueue()
    processes = []
    try:
        mailbox, sender = multiprocessing.Pipe(duplex=False)
        ring = [sender]
        for number in range(tasks):
            if number + 1 < tasks:
                following, sender = multiprocessing.Pipe(duplex=False)
                ring.append(sender)
            args = tasks, number, mailbox, ring[(number + 1) % tasks], started, all_started, noted
            process = multiprocessing.Process(target=task, args=args)
            process.start()
            processes.append(process)
            mailbox.close()  # the process has its own
            mailbox = following
    except (OSError, MemoryError) as error:
        give_up(tasks, processes, error)
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        ring[token * tasks // tokens].send(hops)
    total = sum(noted.get() for _ in range(tokens))
    print("done", operations)
    print("check", total, flush=True)
    for sender in ring:
        sender.send(None)
    for process in processes:
        process.join()


def give_up(tasks, processes, error):
    print(f"cannot start task {len(processes) + 1} of {tasks}: {error}", file=sys.stderr)
    print("failed", tasks - len(processes), flush=True)
    for process in processes:
        process.kill()
    sys.exit(1)


def raise_file_limit():
    """The parent keeps pipes of each process open, together more than the usual 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1, help="at most one for two tasks")
    given = parser.parse_args()
    if given.operations < 1 or not 1 <= given.tokens <= given.tasks // 2:
        parser.error("at least one operation, one token, and two tasks for each token")
    return given.tasks, given.operations, given.tokens


if __name__ == "__main__":
    numbers = arguments()
    multiprocessing.set_start_method("fork")  # on every version: 3.14 made forkserver the default
    raise_file_limit()
    main(*numbers)
