"""A ring of curio tasks: each takes tokens from its own queue and puts them into the next task's.

A token is the number of hops that it has left.
"""

import argparse

import curio

started = 0
all_started = curio.Event()


async def task(tasks, number, queue, next_queue, results):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        await all_started.set()
    while True:
        hops = await queue.get()
        if hops > 0:
            await next_queue.put(hops - 1)
        else:
            await results.put(number)


async def main():
    tasks, operations, tokens = arguments()
    queues = [curio.Queue(1) for _ in range(tasks)]
    results = curio.Queue()
    async with curio.TaskGroup() as group:
        for number in range(tasks):
            await group.spawn(task, tasks, number, queues[number], queues[(number + 1) % tasks], results)
        await all_started.wait()
        print("ready", flush=True)
        for token in range(tokens):
            hops = operations // tokens + (token < operations % tokens)
            await queues[token * tasks // tokens].put(hops)
        total = sum([await results.get() for _ in range(tokens)])
        print("done", operations)
        print("check", total, flush=True)
        await group.cancel_remaining()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    curio.run(main)
