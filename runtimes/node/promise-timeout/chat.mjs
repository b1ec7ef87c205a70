// A WebSocket per connection, whose text messages join a room or speak in it.
import { WebSocket, WebSocketServer } from 'ws';

const [, host, port] = /^\d+ --listen (\S+):(\d+)$/.exec(process.argv.slice(2).join(' '));

const MAX_MESSAGE = 65_536; // bytes
const MAX_BUFFERED = 1_048_576; // bytes that wait for a member; one that falls further behind is disconnected

const rooms = new Map(); // from a name to the set of its members

function join(name, member) {
  if (!rooms.has(name)) rooms.set(name, new Set());
  rooms.get(name).add(member);
}

function leave(name, member) {
  const members = rooms.get(name);
  members?.delete(member);
  if (members?.size === 0) rooms.delete(name);
}

function send(member, message) {
  if (member.bufferedAmount > MAX_BUFFERED) member.terminate();
  else member.send(message, { binary: false });
}

function serve(socket) {
  let room;

  socket.on('message', (data, isBinary) => {
    if (socket.readyState !== WebSocket.OPEN) return; // closed because of an earlier message
    const text = data.toString();
    if (isBinary) {
      socket.close(1003);
    } else if (text.startsWith('join ')) {
      leave(room, socket);
      room = text.slice('join '.length);
      join(room, socket);
      send(socket, `joined ${room}`);
    } else if (text.startsWith('say ') && room !== undefined) {
      const message = data.subarray('say '.length); // bytes, because ws would encode a string for each member
      for (const member of rooms.get(room)) send(member, message);
    } else {
      socket.close(1008);
    }
  });
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => leave(room, socket));
}

const server = new WebSocketServer({
  host,
  port: Number(port),
  backlog: 4096,
  clientTracking: false, // `rooms` has the members
  maxPayload: MAX_MESSAGE,
});
server.on('connection', serve);
server.on('listening', () => console.log(`listening ${server.address().port}`));
