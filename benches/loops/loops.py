"""Loops by asyncio: nanoseconds an operation."""

import asyncio
import sys
import time

ROUND = 100_000


async def nothing():
    pass


async def spawn_one():
    for _ in range(ROUND):
        await asyncio.create_task(nothing())


async def spawn_thousand():
    for _ in range(ROUND // 1000):
        await asyncio.gather(*(asyncio.create_task(nothing()) for _ in range(1000)))


async def hop():
    there, back = asyncio.Queue(1), asyncio.Queue(1)

    async def answer():
        for _ in range(ROUND // 2):
            await back.put(await there.get())

    other = asyncio.create_task(answer())
    for i in range(ROUND // 2):
        await there.put(i)
        await back.get()
    await other


async def pair():
    def key(i):
        return i * 2_654_435_761 & 0xFFFFFFFF

    entries = {key(i): i for i in range(65_536)}
    total = 0
    for j in range(ROUND):
        entries[key(65_536 + j)] = 65_536 + j
        total += entries[key(j % 65_536)]


async def node(first, leaves):
    """As atemerev/skynet, by gather."""
    if leaves == 1:
        return first
    share = leaves // 10
    return sum(await asyncio.gather(*(node(first + i * share, share) for i in range(10))))


async def leaf():
    assert await node(0, ROUND) == ROUND * (ROUND - 1) // 2


loops = {"spawn-one": spawn_one, "spawn-thousand": spawn_thousand, "hop": hop, "pair": pair, "leaf": leaf}
start = time.perf_counter()
asyncio.run(loops[sys.argv[1]]())
print(f"{(time.perf_counter() - start) * 1e9 / ROUND:.1f}")
