// One worker thread per task, each waiting for one message from the main thread.
import { once } from 'node:events';
import { readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { argv, exit } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const begin = performance.now();

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

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
  const numbers = argv.slice(2);
  const [tasks, seconds] = numbers.map(Number);
  const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
  if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
    console.error('usage: park.mjs <tasks> <seconds>: whole numbers, at least one task, at most 2147483 seconds');
    exit(2);
  }

  const counters = new Int32Array(new SharedArrayBuffer(8));
  const workers = [];
  const exits = [];
  async function launch() {
    while (workers.length < tasks) {
      if (workers.length % 16 === 0 && !canMapMore()) throw new Error('vm.max_map_count is used up');
      const worker = new Worker(new URL(import.meta.url), { workerData: { tasks, counters } });
      workers.push(worker);
      exits.push(once(worker, 'exit'));
      await once(worker, 'online');
    }
  }

  try {
    // As many at a time as there are CPUs to start them.
    await Promise.all(Array.from({ length: availableParallelism() }, launch));
    await sleep(Math.max(0, begin + seconds * 1000 - performance.now()));
    for (const worker of workers) worker.postMessage('wake');
    await Promise.all(exits);
  } catch (error) {
    const started = Atomics.load(counters, STARTED);
    console.error(`cannot start task ${started + 1} of ${tasks}: ${error.message}`);
    console.log(`done ${Atomics.load(counters, FINISHED)}`);
    console.log(`failed ${tasks - started}`);
    exit(1);
  }

  console.log(`done ${Atomics.load(counters, FINISHED)}`);
}

// A worker maps some 45 areas of memory. V8 aborts the process where it is refused one, so this looks ahead.
function canMapMore() {
  const most = Number(readFileSync('/proc/sys/vm/max_map_count', 'latin1'));
  const used = readFileSync('/proc/self/maps', 'latin1').split('\n').length;
  return used + 2000 < most;
}

if (isMainThread) {
  await main();
} else {
  await task(workerData);
}
