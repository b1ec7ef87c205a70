// One WebSocket per connection, whose text messages join a room or speak in it. A room is a topic of Bun's publish and subscribe.

const [, host, port] = /^\d+ --listen (\S+):(\d+)$/.exec(Bun.argv.slice(2).join(" "))!;

const MAX_MESSAGE = 65_536; // bytes
const MAX_BUFFERED = 1_048_576; // bytes that wait for a member; one that falls further behind is disconnected

interface Member {
  room?: string;
}

const server = Bun.serve({
  hostname: host!,
  port: Number(port),
  fetch(request, server) {
    if (server.upgrade(request, { data: {} })) return;
    return new Response("not a WebSocket", { status: 426 });
  },
  websocket: {
    data: {} as Member,
    maxPayloadLength: MAX_MESSAGE,
    backpressureLimit: MAX_BUFFERED,
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
