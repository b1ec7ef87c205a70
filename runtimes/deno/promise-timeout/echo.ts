// One call of an async function per connection, which sends back what comes.

async function task(connection: Deno.TcpConn): Promise<void> {
  try {
    connection.setNoDelay();
    await connection.readable.pipeTo(connection.writable);
  } catch {
    // the client has gone
  }
}

const [, tasks, hostname, port] = /^(\d+) --listen (\S+):(\d+)$/.exec(Deno.args.join(" ")) ?? [];
if (!(Number(tasks) >= 1 && Number(port) <= 65_535)) {
  console.error("usage: echo.ts <tasks> --listen <host>:<port>: at least one task");
  Deno.exit(2);
}

const listener = Deno.listen({ hostname, port: Number(port) });
console.log(`listening ${listener.addr.port}`);
try {
  for await (const connection of listener) task(connection);
} catch (error) {
  console.error(String(error)); // where descriptors have run out, Deno panics at an uncaught error
  Deno.exit(1);
}
