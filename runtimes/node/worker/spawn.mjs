// One worker thread per operation, made and joined, each of which sends its number to the main thread.
import { argv, exit } from 'node:process';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

// The sum of the numbers stays below 2^53, above which a number is no longer exact.
const MOST_OPERATIONS = 100_000_000;

// Resolves to the task's number when its thread has ended.
function start(number) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: number });
    let result;
    worker.once('message', (message) => {
      result = message;
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve(result));
  });
}

async function main() {
  const numbers = argv.slice(2);
  const [tasks, operations] = numbers.map(Number);
  const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
  if (!whole || tasks < 1 || operations < 1 || operations > MOST_OPERATIONS) {
    console.error('usage: spawn.mjs <tasks> <operations>: whole numbers, at least one of each, at most 100000000 operations');
    exit(2);
  }
  console.log('ready');

  let sum = 0;
  let done = 0;
  try {
    while (done < operations) {
      const round = Math.min(tasks, operations - done);
      const results = await Promise.all(Array.from({ length: round }, (_, i) => start(done + i)));
      for (const result of results) sum += result;
      done += round;
    }
  } catch (error) {
    console.error(`cannot start ${tasks} tasks at once: ${error.message}`);
    console.log(`done ${done}`);
    console.log(`failed ${operations - done}`);
    exit(1);
  }

  console.log(`done ${operations}`);
  console.log(`check ${sum}`);
}

if (isMainThread) {
  await main();
} else {
  parentPort.postMessage(workerData);
}
