// A ring of worker threads, each of which receives tokens on a port of its own and passes them on.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads';

const ALL_ALIVE = -1;

function task({ number, tasks, started, own, next }) {
  function handle(hops) {
    if (hops > 0) next.postMessage(hops - 1);
    else parentPort.postMessage(number);
  }
  own.on('message', handle);
  parentPort.on('message', handle); // the main thread puts the tokens in
  if (Atomics.add(started, 0, 1) + 1 === tasks) {
    // Not console.log, which in a worker is a message to the main thread.
    writeSync(1, `alive ${tasks}\n`);
    parentPort.postMessage(ALL_ALIVE);
  }
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { tokens: { type: 'string', default: '1' } },
  });
  const [tasks, operations, tokens] = [...positionals, values.tokens].map(Number);
  if (!(tasks > 1 && operations > 0 && tokens > 0)) {
    throw new Error('usage: ring.mjs <tasks> <operations> [--tokens <tokens>]');
  }

  const started = new Int32Array(new SharedArrayBuffer(4));
  const channels = Array.from({ length: tasks }, () => new MessageChannel());
  const workers = [];
  let sum = 0;
  let stopped = 0;

  function start() {
    console.log('ready');
    for (let token = 0; token < tokens; token += 1) {
      const hops = Math.floor(operations / tokens) + (token < operations % tokens ? 1 : 0);
      workers[Math.floor((token * tasks) / tokens)].postMessage(hops);
    }
  }

  async function handle(message) {
    if (message === ALL_ALIVE) return start();
    sum += message; // the number of the task where a token has no hops left
    stopped += 1;
    if (stopped < tokens) return;
    console.log(`done ${operations}`);
    console.log(`check ${sum}`);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  try {
    for (let number = 0; number < tasks; number += 1) {
      const own = channels[number].port2;
      const next = channels[(number + 1) % tasks].port1;
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { number, tasks, started, own, next },
        transferList: [own, next],
      });
      workers.push(worker);
      worker.on('message', handle);
      await once(worker, 'online');
    }
  } catch (error) {
    console.error(`cannot start task ${workers.length} of ${tasks}: ${error.message}`);
    console.log('done 0');
    console.log(`failed ${tasks - workers.length + 1}`);
    process.exit(1);
  }
}

if (isMainThread) {
  await main();
} else {
  task(workerData);
}
