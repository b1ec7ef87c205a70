"""One curio task per place of a ring, each with a queue of one from which it takes tokens."""

import argparse

import curio

started = 0
all_started = curio.Event()


async def task(tasks, number, mailbox, following, noted):
    global started
    started += 1
    if started == tasks:
        print("alive", tasks, flush=True)
        await all_started.set()
    while True:
        hops = await mailbox.get()
        if hops > 0:
            await following.put(hops - 1)
        else:
            await noted.put(number)


async def main(tasks, operations, tokens):
    ring = [curio.Queue(1) for _ in range(tasks)]
    noted = curio.Queue()
    async with curio.TaskGroup() as group:
        for number in range(tasks):
            await group.spawn(task, tasks, number, ring[number], ring[(number + 1) % tasks], noted)
        await all_started.wait()
        print("ready", flush=True)
        for token in range(tokens):
            hops = operations // tokens + (token < operations % tokens)
            await ring[token * tasks // tokens].put(hops)
        total = sum([await noted.get() for _ in range(tokens)])
        print("done", operations)
        print("check", total, flush=True)
        await group.cancel_remaining()


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
    curio.run(main, *arguments())
