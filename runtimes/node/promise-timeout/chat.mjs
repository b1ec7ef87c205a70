// A WebSocket per connection, whose text messages join a room or speak in it.
import { argv, exit } from 'node:process';
import { WebSocket, WebSocketServer } from 'ws';

const LARGEST_MESSAGE = 65_536;
const MOST_UNSENT = 1_048_576; // bytes that wait for a member, before it is cut off

const rooms = new Map(); // a set of members for each name

function join(name, member) {
  if (!rooms.has(name)) rooms.set(name, new Set());
  rooms.get(name).add(member);
}

function leave(name, member) {
  const members = rooms.get(name);
  members?.delete(member);
  if (members?.size === 0) rooms.delete(name);
}

// Cuts off who does not read.
function send(member, message) {
  if (member.bufferedAmount > MOST_UNSENT) member.terminate();
  else member.send(message, { binary: false });
}

function task(socket) {
  let room;

  function hear(data, isBinary) {
    if (socket.readyState !== WebSocket.OPEN) return; // it has been closed because of an earlier message
    const text = data.toString();
    if (isBinary) {
      socket.close(1003);
    } else if (text.startsWith('join ')) {
      leave(room, socket);
      room = text.slice('join '.length);
      join(room, socket);
      send(socket, `joined ${room}`);
    } else if (text.startsWith('say ') && room !== undefined) {
      const message = data.subarray('say '.length); // bytes, as a string would be encoded for each member
      for (const member of rooms.get(room)) send(member, message);
    } else {
      socket.close(1008);
    }
  }
  socket.on('message', hear);
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => leave(room, socket));
}

const [, tasks, host, port] = /^(\d+) --listen (\S+):(\d+)$/.exec(argv.slice(2).join(' ')) ?? [];
if (!(tasks >= 1 && port <= 65535)) {
  console.error('usage: chat.mjs <tasks> --listen <host>:<port>: at least one task');
  exit(2);
}

const server = new WebSocketServer({
  host,
  port: Number(port),
  backlog: 4096,
  clientTracking: false,
  maxPayload: LARGEST_MESSAGE,
});
server.on('connection', task);
server.on('listening', () => console.log(`listening ${server.address().port}`));
