// One call of an async function per connection, which sends back what it receives.
import { createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';

const [, host, port] = /^\d+ --listen (\S+):(\d+)$/.exec(process.argv.slice(2).join(' '));

async function task(socket) {
  try {
    await pipeline(socket, socket);
  } catch {
    // the client has disconnected
  }
}

// Half open, because the client may close its side before everything has been sent back.
const server = createServer({ allowHalfOpen: true, noDelay: true }, task);
server.listen({ host, port: Number(port), backlog: 4096 }, () => console.log(`listening ${server.address().port}`));
