"""One asyncio task per WebSocket, made by the library websockets: clients join a room and speak to it."""

import asyncio
import errno
import logging
import sys

from websockets.asyncio.server import broadcast, serve
from websockets.exceptions import ConnectionClosed

MAX_MESSAGE = 65_536
MAX_UNSENT = 1_048_576  # bytes waiting to be sent to a member; one with more is disconnected

rooms = {}  # sets of connections, by the room's name


def join(room, connection):
    rooms.setdefault(room, set()).add(connection)


def leave(room, connection):
    members = rooms.get(room, set())
    members.discard(connection)
    if not members:
        rooms.pop(room, None)


def say(room, text):
    # broadcast buffers without limit for clients that do not read.
    for member in rooms[room]:
        if member.transport.get_write_buffer_size() > MAX_UNSENT:
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
        pass  # the client has gone, or broke the WebSocket protocol
    finally:
        leave(room, connection)


def exit_without_descriptors(loop, context):
    if getattr(context.get("exception"), "errno", None) == errno.EMFILE:
        sys.exit("too many open files")  # asyncio would retry forever
    loop.default_exception_handler(context)


async def main():
    host, port = sys.argv[3].rsplit(":", 1)
    asyncio.get_running_loop().set_exception_handler(exit_without_descriptors)
    logging.getLogger("websockets").addHandler(logging.NullHandler())  # errors of clients go unlogged
    async with serve(
        task,
        host,
        int(port),
        backlog=4096,
        compression=None,
        max_size=MAX_MESSAGE,
        ping_interval=None,  # keepalive is a second task per connection
    ) as server:
        print("listening", server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
