"""One trio task per place of a ring, each with a memory channel of one from which it takes tokens."""

import argparse

import trio

started = 0
all_started = trio.Event()


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
    senders, receivers = zip(*(trio.open_memory_channel(1) for _ in range(tasks)))
    noted, numbers = trio.open_memory_channel(tokens)
    async with trio.open_nursery() as nursery:
        for number in range(tasks):
            following = senders[(number + 1) % tasks]
            nursery.start_soon(task, tasks, number, receivers[number], following, noted)
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
    parser.add_argument("--tokens", type=int, default=1, help="at most one for two tasks")
    given = parser.parse_args()
    if given.operations < 1 or not 1 <= given.tokens <= given.tasks // 2:
        parser.error("at least one operation, one token, and two tasks for each token")
    return given.tasks, given.operations, given.tokens


if __name__ == "__main__":
    trio.run(main, *arguments())
