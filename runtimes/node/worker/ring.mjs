// A ring of worker threads, each of which takes tokens from a port of its own.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { exit } from 'node:process';
import { parseArgs } from 'node:util';
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads';

const ALL_ALIVE = -1;

function words() {
  try {
    const options = { tokens: { type: 'string', default: '1' } };
    const { positionals, values } = parseArgs({ options, allowPositionals: true });
    return [...positionals, values.tokens];
  } catch {
    return [];
  }
}

function task({ number, tasks, started, own, next }) {
  function take(hops) {
    if (hops > 0) next.postMessage(hops - 1);
    else parentPort.postMessage(number);
  }
  own.on('message', take);
  parentPort.on('message', take); // the tokens come from the main thread
  if (Atomics.add(started, 0, 1) + 1 === tasks) {
    // Not console.log, which in a worker is a message to the main thread.
    writeSync(1, `alive ${tasks}\n`);
    parentPort.postMessage(ALL_ALIVE);
  }
}

async function main() {
  const numbers = words();
  const [tasks, operations, tokens] = numbers.map(Number);
  const whole = numbers.length === 3 && numbers.every((number) => /^\d+$/.test(number));
  if (!whole || operations < 1 || tokens < 1 || tokens > tasks / 2) {
    console.error('usage: ring.mjs <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks, and two for each token');
    exit(2);
  }

  const started = new Int32Array(new SharedArrayBuffer(4));
  const channels = Array.from({ length: tasks }, () => new MessageChannel());
  const workers = [];
  let sum = 0;
  let noted = 0;

  function putIn() {
    console.log('ready');
    for (let token = 0; token < tokens; token += 1) {
      const hops = Math.floor(operations / tokens) + (token < operations % tokens ? 1 : 0);
      workers[Math.floor((token * tasks) / tokens)].postMessage(hops);
    }
  }

  async function hear(message) {
    if (message === ALL_ALIVE) return putIn();
    sum += message;
    noted += 1;
    if (noted < tokens) return;
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
      worker.on('message', hear);
      await once(worker, 'online');
    }
  } catch (error) {
    console.error(`cannot start task ${workers.length} of ${tasks}: ${error.message}`);
    console.log('done 0');
    console.log(`failed ${tasks - workers.length + 1}`);
    exit(1);
  }
}

if (isMainThread) {
  await main();
} else {
  task(workerData);
}
