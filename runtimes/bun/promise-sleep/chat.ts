// One WebSocket per connection, whose text messages join a room or speak in it. A room is a topic of Bun's own.

const LARGEST_MESSAGE = 65_536;
const MOST_UNSENT = 1_048_576; // bytes that wait for a member, before it is cut off

const words = Bun.argv.slice(2).join(" ");
const [, tasks, host, port] = /^(\d+) --listen (\S+):(\d+)$/.exec(words) ?? [];
if (!(Number(tasks) >= 1 && Number(port) <= 65_535)) {
  console.error("usage: chat.ts <tasks> --listen <host>:<port>: at least one task");
  process.exit(2);
}

interface Member {
  room?: string;
}

const server = Bun.serve({
  hostname: host,
  port: Number(port),
  fetch(request, server) {
    if (server.upgrade(request, { data: {} })) return;
    return new Response("not a WebSocket", { status: 426 });
  },
  websocket: {
    data: {} as Member,
    maxPayloadLength: LARGEST_MESSAGE,
    backpressureLimit: MOST_UNSENT,
    closeOnBackpressureLimit: true,
    idleTimeout: 0,
    sendPings: false,
    perMessageDeflate: false,
    message(socket, message) {
      const member = socket.data;
      if (typeof message !== "string") {
        socket.close(1003);
      } else if (message.startsWith("join ")) {
        if (member.room !== undefined) socket.unsubscribe(member.room);
        member.room = message.slice("join ".length);
        socket.subscribe(member.room);
        socket.send(`joined ${member.room}`);
      } else if (message.startsWith("say ") && member.room !== undefined) {
        server.publish(member.room, message.slice("say ".length));
      } else {
        socket.close(1008);
      }
    },
  },
});
console.log(`listening ${server.port}`);

export {};
