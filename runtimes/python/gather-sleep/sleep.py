"""asyncio.sleep itself, handed to asyncio.gather: no function of the program's own around it."""

import asyncio
import sys


async def main(tasks, seconds):
    together = asyncio.gather(*[asyncio.sleep(seconds) for _ in range(tasks)])
    # Called right after each sleep has begun, and before the loop looks at timers again: none is over.
    asyncio.get_running_loop().call_soon(lambda: print("alive", tasks, flush=True))
    print("done", len(await together))


def arguments():
    try:
        tasks, seconds = map(int, sys.argv[1:])
    except ValueError:
        return None
    return (tasks, seconds) if tasks >= 1 and seconds >= 0 else None


if __name__ == "__main__":
    numbers = arguments()
    if numbers is None:
        print("usage: sleep.py <tasks> <seconds>: whole numbers, at least one task", file=sys.stderr)
        sys.exit(2)
    asyncio.run(main(*numbers))
