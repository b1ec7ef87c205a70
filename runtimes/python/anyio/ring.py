"""A ring of anyio tasks: each receives tokens from its own stream and sends them to the next task's.

A token is the number of hops that it has left.
"""

import argparse

import anyio

started = 0
all_started = anyio.Event()


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
    senders, receivers = zip(*(anyio.create_memory_object_stream[int](1) for _ in range(tasks)))
    results, numbers = anyio.create_memory_object_stream[int](tokens)
    async with anyio.create_task_group() as group:
        for number in range(tasks):
            next_sender = senders[(number + 1) % tasks]
            group.start_soon(task, tasks, number, receivers[number], next_sender, results)
        await all_started.wait()
        print("ready", flush=True)
        for token in range(tokens):
            hops = operations // tokens + (token < operations % tokens)
            await senders[token * tasks // tokens].send(hops)
        total = sum([await numbers.receive() for _ in range(tokens)])
        print("done", operations)
        print("check", total, flush=True)
        group.cancel_scope.cancel()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--tokens", type=int, default=1)
    args = parser.parse_args()
    return args.tasks, args.operations, args.tokens


if __name__ == "__main__":
    anyio.run(main)
