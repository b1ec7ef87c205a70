"""One asyncio task per WebSocket, made by websockets' serve: text messages join a room or speak in it."""

import asyncio
import errno
import logging
import sys

from websockets.asyncio.server import broadcast, serve
from websockets.exceptions import ConnectionClosed

LARGEST_MESSAGE = 65_536
MOST_UNSENT = 1_048_576  # bytes that wait for a member, before it is cut off

rooms = {}  # a set of members for each name


def join(room, member):
    rooms.setdefault(room, set()).add(member)


def leave(room, member):
    members = rooms.get(room)
    if members is not None:
        members.discard(member)
        if not members:
            del rooms[room]


def say(room, text):
    # broadcast writes without waiting, so one slow member does not hold the others up.
    for member in rooms[room]:
        if member.transport.get_write_buffer_size() > MOST_UNSENT:
            member.transport.abort()
    broadcast(rooms[room], text)


async def task(connection):
    room = None
    try:
        async for message in connection:
            if not isinstance(message, str):
                await connection.close(1003)
                break
            elif message.startswith("join "):
                leave(room, connection)
                room = message.removeprefix("join ")
                join(room, connection)
                await connection.send(f"joined {room}")
            elif message.startswith("say ") and room is not None:
                say(room, message.removeprefix("say "))
            else:
                await connection.close(1008)
                break
    except ConnectionClosed:
        pass  # the client has gone, or broke the protocol
    finally:
        leave(room, connection)


def end_without_descriptors(loop, context):
    if getattr(context.get("exception"), "errno", None) == errno.EMFILE:
        sys.exit("too many open files")  # asyncio would try again, for ever
    loop.default_exception_handler(context)


async def main(host, port):
    asyncio.get_running_loop().set_exception_handler(end_without_descriptors)
    logging.getLogger("websockets").addHandler(logging.NullHandler())
    async with serve(
        task,
        host,
        port,
        backlog=4096,
        compression=None,
        max_size=LARGEST_MESSAGE,
        ping_interval=None,  # else a second task for each connection
    ) as server:
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
        print("usage: chat.py <tasks> --listen <host>:<port>: at least one task", file=sys.stderr)
        sys.exit(2)
    asyncio.run(main(*address))
