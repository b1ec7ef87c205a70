// One WebSocket per connection, whose text messages join a room or speak in it.

const LARGEST_MESSAGE = 65_536;
const MOST_UNSENT = 1_048_576; // bytes that wait for a member, before it is cut off

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

// No character is above three bytes for each of its units, so most texts need not be encoded to know.
function tooLarge(text: string): boolean {
  return text.length * 3 > LARGEST_MESSAGE && encoder.encode(text).length > LARGEST_MESSAGE;
}

function send(member: WebSocket, message: string): void {
  if (member.readyState !== WebSocket.OPEN) return;
  if (member.bufferedAmount > MOST_UNSENT) member.close(1013); // Deno has nothing that ends it at once
  else member.send(message);
}

function task(socket: WebSocket): void {
  let room: string | undefined;

  socket.onmessage = ({ data }) => {
    if (socket.readyState !== WebSocket.OPEN) return; // it has been closed because of an earlier message
    if (typeof data !== "string") {
      socket.close(1003);
    } else if (tooLarge(data)) {
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

function serve(request: Request): Response {
  try {
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    task(socket);
    return response;
  } catch {
    return new Response("not a WebSocket", { status: 400 });
  }
}

const [, tasks, hostname, port] = /^(\d+) --listen (\S+):(\d+)$/.exec(Deno.args.join(" ")) ?? [];
if (!(Number(tasks) >= 1 && Number(port) <= 65_535)) {
  console.error("usage: chat.ts <tasks> --listen <host>:<port>: at least one task");
  Deno.exit(2);
}

const onListen = ({ port }: Deno.NetAddr) => console.log(`listening ${port}`);
Deno.serve({ hostname, port: Number(port), onListen }, serve);
