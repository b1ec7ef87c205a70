// One call of an async function per connection, which sends back what it receives.

const [, hostname, port] = /^\d+ --listen (\S+):(\d+)$/.exec(Deno.args.join(" "))!;

async function task(connection: Deno.TcpConn): Promise<void> {
  connection.setNoDelay();
  const buffer = new Uint8Array(4096);
  try {
    for (let length; (length = await connection.read(buffer)) !== null; ) {
      let sent = 0;
      while (sent < length) sent += await connection.write(buffer.subarray(sent, length));
    }
  } catch {
    // the client has disconnected
  } finally {
    connection.close();
  }
}

const listener = Deno.listen({ hostname, port: Number(port) });
console.log(`listening ${listener.addr.port}`);
try {
  for await (const connection of listener) task(connection);
} catch (error) {
  console.error(String(error)); // Deno panics at an uncaught error when file descriptors are exhausted
  Deno.exit(1);
}
