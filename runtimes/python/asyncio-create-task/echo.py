"""One asyncio task per connection, made by start_server, which sends back what it receives."""

import asyncio
import errno
import sys


async def task(reader, writer):
    try:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # the client has gone
    finally:
        writer.close()


def exit_without_descriptors(loop, context):
    if getattr(context.get("exception"), "errno", None) == errno.EMFILE:
        sys.exit("too many open files")  # asyncio would retry forever
    loop.default_exception_handler(context)


async def main():
    host, port = sys.argv[3].rsplit(":", 1)
    asyncio.get_running_loop().set_exception_handler(exit_without_descriptors)
    server = await asyncio.start_server(task, host, int(port), backlog=4096)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
