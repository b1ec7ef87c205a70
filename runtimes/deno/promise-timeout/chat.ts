// A WebSocket per connection, whose text messages join a room or speak in it.

const [, hostname, port] = /^\d+ --listen (\S+):(\d+)$/.exec(Deno.args.join(" "))!;

const MAX_MESSAGE = 65_536; // bytes
const MAX_BUFFERED = 1_048_576; // bytes that wait for a member; one that falls further behind is disconnected

const encoder = new TextEncoder();
const rooms = new Map<string, Set<WebSocket>>();

function join(name: string, member: WebSocket): void {
  if (!rooms.has(name)) rooms.set(name, new Set());
  rooms.get(name)!.add(member);
}

function leave(name: string, member: WebSocket): void {
  const members = rooms.get(name);
  members?.delete(member);
  if (members?.size === 0) rooms.delete(name);
}

// A UTF-16 code unit takes at most three bytes of UTF-8, so short texts need no encoding to be measured.
function isTooLarge(text: string): boolean {
  return text.length * 3 > MAX_MESSAGE && encoder.encode(text).length > MAX_MESSAGE;
}

function send(member: WebSocket, message: string): void {
  if (member.readyState !== WebSocket.OPEN) return;
  if (member.bufferedAmount > MAX_BUFFERED) member.close(1013); // Deno has no way to end a WebSocket at once
  else member.send(message);
}

function serve(socket: WebSocket): void {
  let room: string | undefined;

  socket.onmessage = ({ data }) => {
    if (socket.readyState !== WebSocket.OPEN) return; // closed because of an earlier message
    if (typeof data !== "string") {
      socket.close(1003);
    } else if (isTooLarge(data)) {
      socket.close(1009);
    } else if (data.startsWith("join ")) {
      if (room !== undefined) leave(room, socket);
      room = data.slice("join ".length);
      join(room, socket);
      send(socket, `joined ${room}`);
    } else if (data.startsWith("say ") && room !== undefined) {
      const message = data.slice("say ".length);
      for (const member of rooms.get(room)!) send(member, message);
    } else {
      socket.close(1008);
    }
  };
  socket.onclose = () => {
    if (room !== undefined) leave(room, socket);
  };
}

function handle(request: Request): Response {
  try {
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    serve(socket);
    return response;
  } catch {
    return new Response("not a WebSocket", { status: 400 });
  }
}

const onListen = ({ port }: Deno.NetAddr) => console.log(`listening ${port}`);
Deno.serve({ hostname, port: Number(port), onListen }, handle);
