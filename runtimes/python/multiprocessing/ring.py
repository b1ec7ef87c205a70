"""A ring of processes: each receives tokens from its own pipe and sends them down the next process's.

A token is the number of hops that it has left.
"""

import argparse
import multiprocessing
import resource
import sys


def task(tasks, number, receiver, next_sender, started, all_started, results):
    with started.get_lock():
        started.value += 1
        if started.value == tasks:
            print("alive", tasks, flush=True)
            all_started.set()
    while (hops := receiver.recv()) is not None:
        if hops > 0:
            next_sender.send(hops - 1)
        else:
            results.put(number)


def main():
    tasks, operations, tokens = arguments()
    started = multiprocessing.Value("i")
    all_started = multiprocessing.Event()
    results = multiprocessing.SimpleQueue()
    processes = []
    try:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        senders = [sender]
        for number in range(tasks):
            if number + 1 < tasks:
                next_receiver, sender = multiprocessing.Pipe(duplex=False)
                senders.append(sender)
            args = tasks, number, receiver, senders[(number + 1) % tasks], started, all_started, results
            process = multiprocessing.Process(target=task, args=args)
            process.start()
            processes.append(process)
            receiver.close()  # the process has its own
            receiver = next_receiver
    except (OSError, MemoryError) as error:
        give_up(tasks, processes, error)
    all_started.wait()
    print("ready", flush=True)
    for token in range(tokens):
        hops = operations // tokens + (token < operations % tokens)
        senders[token * tasks // tokens].send(hops)
    total = sum(results.get() for _ in range(tokens))
    print("done", operations)
    print("check", total, flush=True)
    for sender in senders:
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
    """Lets the parent keep pipes of all processes open: more than the usual 1,024 files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")  # the default before Python 3.14
    raise_file_limit()
    main()
