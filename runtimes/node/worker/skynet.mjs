// One worker thread per node of a tree, each waiting for the sums of its ten children.
import { argv, exit } from 'node:process';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

// The sums of all trees stay below 2^53, above which a number is no longer exact.
const MOST_OPERATIONS = 100_000_000;

// Resolves to the node's sum when its thread has ended.
function start(first, leaves) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { first, leaves } });
    let sum;
    worker.once('message', (message) => {
      sum = message;
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve(sum));
  });
}

async function node({ first, leaves }) {
  if (leaves === 1) return first;
  const size = leaves / 10;
  const children = Array.from({ length: 10 }, (_, child) => start(first + child * size, size));
  let sum = 0;
  for (const result of await Promise.all(children)) sum += result;
  return sum;
}

async function main() {
  const numbers = argv.slice(2);
  const [tasks, operations] = numbers.map(Number);
  const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
  const powerOfTen = /^10*$/.test(numbers[0]);
  if (!whole || !powerOfTen || operations < 1 || operations > MOST_OPERATIONS || operations % tasks !== 0) {
    console.error('usage: skynet.mjs <tasks> <operations>: tasks a power of ten, operations a multiple of them, at most 100000000');
    exit(2);
  }
  console.log('ready');

  let sum = 0;
  let done = 0;
  try {
    for (; done < operations; done += tasks) sum += await start(0, tasks);
  } catch (error) {
    console.error(`cannot start a tree of ${tasks} leaves: ${error.message}`);
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
  parentPort.postMessage(await node(workerData));
}
