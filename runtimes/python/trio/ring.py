"""A ring of trio tasks: each receives tokens from its own channel and sends them to the next task's.

A token is the number of hops that it has left.
"""

import argparse

import trio

started = 0
all_started = trio.Event()


async def task(tasks, number, receiver, next_sender, results):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.set()
    async for hops in receiver:
        if hops > 0:
            await next_sender.send(hops - 1)
        else:
            await results.send(number)


async def main():
    tasks, operations, tokens = arguments()
    senders, receivers = zip(*(trio.open_memory_channel(1) for _ in range(tasks)))
    results, numbers = trio.open_memory_channel(tokens)
    async with trio.open_nursery() as nursery:
        for number in range(tasks):
            next_sender = senders[(number + 1) % tasks]
            nursery.start_soon(task, tasks, number, receivers[number], next_sender, results)
        await all_started.wait()
        print("ready", flush=True)
        for token in range(tokens):
            hops = operations // tokens + (token < operations % tokens)
            await senders[token * tasks // tokens].send(hops)
        total = sum([await numbers.receive() for _ in range(tokens)])
        print("done", operations)
        print("check", total, flush=True)
        nursery.cancel_scope.cancel()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    trio.run(main)
