// One object per connection, which sends back what it receives. Bun's sockets use callbacks, not promises.

const [, host, port] = /^\d+ --listen (\S+):(\d+)$/.exec(Bun.argv.slice(2).join(" "))!;

interface Echo {
  rest: Uint8Array; // what the socket has not taken yet
  ended: boolean; // the client has closed its side
}

const server = Bun.listen<Echo>({
  hostname: host!,
  port: Number(port),
  allowHalfOpen: true,
  socket: {
    open(socket) {
      socket.setNoDelay(true);
      socket.data = { rest: new Uint8Array(), ended: false };
    },
    data(socket, bytes) {
      const sent = socket.write(bytes);
      if (sent < bytes.length) {
        socket.data.rest = bytes.subarray(Math.max(sent, 0));
        socket.pause();
      }
    },
    drain(socket) {
      const { rest, ended } = socket.data;
      const sent = socket.write(rest);
      socket.data.rest = rest.subarray(Math.max(sent, 0));
      if (sent < rest.length) return;
      if (ended) socket.end();
      else socket.resume();
    },
    end(socket) {
      socket.data.ended = true;
      if (socket.data.rest.length === 0) socket.end();
    },
    error() {
      // the client has disconnected
    },
  },
});
console.log(`listening ${server.port}`);

export {};
