"""A ring of asyncio tasks in a TaskGroup: each moves tokens from its own queue to the next task's.

A token is the number of hops that it has left.
"""

import argparse
import asyncio

started = 0
all_started = asyncio.Event()
results = asyncio.Queue()


async def task(tasks, number, queue, next_queue):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.set()
    while True:
        hops = await queue.get()
        if hops > 0:
            await next_queue.put(hops - 1)
        else:
            results.put_nowait(number)


async def main():
    tasks, operations, tokens = arguments()
    queues = [asyncio.Queue(1) for _ in range(tasks)]
    async with asyncio.TaskGroup() as group:
        running = [
            group.create_task(task(tasks, number, queues[number], queues[(number + 1) % tasks]))
            for number in range(tasks)
        ]
        await all_started.wait()
        print("ready", flush=True)
        for token in range(tokens):
            hops = operations // tokens + (token < operations % tokens)
            await queues[token * tasks // tokens].put(hops)
        total = sum([await results.get() for _ in range(tokens)])
        print("done", operations)
        print("check", total, flush=True)
        for each in running:
            each.cancel()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    asyncio.run(main())
