// One worker thread per task, each with a V8 isolate and an event loop of its own.
import { once } from 'node:events';
import { readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

// Indexes of the shared counters.
const STARTED = 0;
const FINISHED = 1;

async function task({ tasks, seconds, counters }) {
  if (Atomics.add(counters, STARTED, 1) + 1 === tasks) {
    // Not console.log, which in a worker is a message to the main thread.
    writeSync(1, `alive ${tasks - Atomics.load(counters, FINISHED)}\n`);
  }
  await sleep(seconds * 1000);
  Atomics.add(counters, FINISHED, 1);
}

async function main() {
  const [tasks, seconds] = process.argv.slice(2).map(Number);
  if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: sleep.mjs <tasks> <seconds>');

  const counters = new Int32Array(new SharedArrayBuffer(8));
  const exits = [];
  async function launch() {
    while (exits.length < tasks) {
      if (exits.length % 16 === 0 && !canMapMore()) throw new Error('vm.max_map_count is exhausted');
      const worker = new Worker(new URL(import.meta.url), { workerData: { tasks, seconds, counters } });
      exits.push(once(worker, 'exit'));
      await once(worker, 'online');
    }
  }

  try {
    // Start one worker per CPU at a time.
    await Promise.all(Array.from({ length: availableParallelism() }, launch));
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
