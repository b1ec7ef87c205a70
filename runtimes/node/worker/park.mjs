// One worker thread per task, each waiting for one message from the main thread.
import { once } from 'node:events';
import { readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const begin = performance.now();

// Indexes of the shared counters.
const STARTED = 0;
const FINISHED = 1;

async function task({ tasks, counters }) {
  const message = once(parentPort, 'message');
  if (Atomics.add(counters, STARTED, 1) + 1 === tasks) {
    // Not console.log, which in a worker is a message to the main thread.
    writeSync(1, `alive ${tasks - Atomics.load(counters, FINISHED)}\n`);
  }
  await message;
  Atomics.add(counters, FINISHED, 1);
}

async function main() {
  const [tasks, seconds] = process.argv.slice(2).map(Number);
  if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: park.mjs <tasks> <seconds>');

  const counters = new Int32Array(new SharedArrayBuffer(8));
  const workers = [];
  const exits = [];
  async function launch() {
    while (workers.length < tasks) {
      if (workers.length % 16 === 0 && !canMapMore()) throw new Error('vm.max_map_count is exhausted');
      const worker = new Worker(new URL(import.meta.url), { workerData: { tasks, counters } });
      workers.push(worker);
      exits.push(once(worker, 'exit'));
      await once(worker, 'online');
    }
  }

  try {
    // Start one worker per CPU at a time.
    await Promise.all(Array.from({ length: availableParallelism() }, launch));
    await sleep(Math.max(0, begin + seconds * 1000 - performance.now()));
    for (const worker of workers) worker.postMessage('wake');
    await Promise.all(exits);
  } catch (error) {
    const started = Atomics.load(counters, STARTED);
    console.error(`cannot start task ${started + 1} of ${tasks}: ${error.message}`);
    console.log(`done ${Atomics.load(counters, FINISHED)}`);
    console.log(`failed ${tasks - started}`);
    process.exit(1);
  }
  console.log(`done ${Atomics.load(counters, FINISHED)}`);
}

// A worker takes about 45 memory mappings, and V8 aborts the process when it is refused one.
function canMapMore() {
  const limit = Number(readFileSync('/proc/sys/vm/max_map_count', 'latin1'));
  const mappings = readFileSync('/proc/self/maps', 'latin1').split('\n').length;
  return mappings + 2000 < limit;
}

if (isMainThread) {
  await main();
} else {
  await task(workerData);
}
