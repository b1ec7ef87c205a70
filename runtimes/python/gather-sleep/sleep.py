"""asyncio.sleep itself, passed to asyncio.gather, without a function of the program's own around it."""

import asyncio
import sys


async def main():
    tasks, seconds = map(int, sys.argv[1:])
    together = asyncio.gather(*[asyncio.sleep(seconds) for _ in range(tasks)])
    # Runs after the first step of every sleep and before the loop next looks at its timers.
    asyncio.get_running_loop().call_soon(lambda: print("alive", tasks, flush=True))
    print("done", len(await together))


if __name__ == "__main__":
    asyncio.run(main())
