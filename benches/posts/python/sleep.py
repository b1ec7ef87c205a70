"""The program of the second 2024 post: asyncio.sleep itself as the task, without a function of its own around it."""

import asyncio
import sys


async def main(tasks, seconds):
    sleeps = [asyncio.sleep(seconds) for _ in range(tasks)]
    together = asyncio.gather(*sleeps)
    # gather has made the tasks but none has run: this one's turn comes after the first step of all of them.
    asyncio.get_running_loop().call_soon(lambda: print("alive", tasks, flush=True))
    await together
    print("done", tasks)


asyncio.run(main(*map(int, sys.argv[1:])))
