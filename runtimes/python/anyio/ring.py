"""One anyio task per place of a ring, each with a memory object stream of one from which it takes tokens."""

import argparse

import anyio

started = 0
all_started = anyio.Event()


async def task(tasks, number, mailbox, following, noted):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        all_started.set()
    async for hops in mailbox:
        if hops > 0:
            await following.send(hops - 1)
        else:
            await noted.send(number)


async def main(tasks, operations, tokens):
    senders, receivers = zip(*(anyio.create_memory_object_stream[int](1) for _ in range(tasks)))
    noted, numbers = anyio.create_memory_object_stream[int](tokens)
    async with anyio.create_task_group() as group:
        for number in range(tasks):
            following = senders[(number + 1) % tasks]
            group.start_soon(task, tasks, number, receivers[number], following, noted)
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
    parser.add_argument("--tokens", type=int, default=1, help="at most one for two tasks")
    given = parser.parse_args()
    if given.operations < 1 or not 1 <= given.tokens <= given.tasks // 2:
        parser.error("at least one operation, one token, and two tasks for each token")
    return given.tasks, given.operations, given.tokens


if __name__ == "__main__":
    anyio.run(main, *arguments())
