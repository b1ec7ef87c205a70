// One call of an async function per connection, which sends back what comes.
import { createServer } from 'node:net';
import { argv, exit } from 'node:process';
import { pipeline } from 'node:stream/promises';

async function task(socket) {
  try {
    await pipeline(socket, socket);
  } catch {
    // the client has gone
  }
}

const [, tasks, host, port] = /^(\d+) --listen (\S+):(\d+)$/.exec(argv.slice(2).join(' ')) ?? [];
if (!(tasks >= 1 && port <= 65535)) {
  console.error('usage: echo.mjs <tasks> --listen <host>:<port>: at least one task');
  exit(2);
}

// Half open: the client may close its side before all has been sent back.
const server = createServer({ allowHalfOpen: true, noDelay: true }, task);
server.listen({ host, port: Number(port), backlog: 4096 }, () => console.log(`listening ${server.address().port}`));
