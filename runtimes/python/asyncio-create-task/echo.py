"""One asyncio task per connection, made by start_server, which sends back what comes."""

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


def end_without_descriptors(loop, context):
    if getattr(context.get("exception"), "errno", None) == errno.EMFILE:
        sys.exit("too many open files")  # asyncio would try again, for ever
    loop.default_exception_handler(context)


async def main(host, port):
    asyncio.get_running_loop().set_exception_handler(end_without_descriptors)
    server = await asyncio.start_server(task, host, port, backlog=4096)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def arguments():
    try:
        tasks, option, address = sys.argv[1:]
        host, port = address.rsplit(":", 1)
        return (host, int(port)) if int(tasks) >= 1 and option == "--listen" else None
    except ValueError:
        return None


if __name__ == "__main__":
    address = arguments()
    if address is None:
        print("usage: echo.py <tasks> --listen <host>:<port>: at least one task", file=sys.stderr)
        sys.exit(2)
    asyncio.run(main(*address))
