// One worker thread per node of a tree, each waiting for the sums of its ten children.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

// Returns the node's sum once its thread has exited.
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
  const share = leaves / 10;
  const children = Array.from({ length: 10 }, (_, child) => start(first + child * share, share));
  let sum = 0;
  for (const result of await Promise.all(children)) sum += result;
  return sum;
}

async function main() {
  const [tasks, operations] = process.argv.slice(2).map(Number);
  if (!(tasks > 0 && operations > 0)) throw new Error('usage: skynet.mjs <tasks> <operations>');
  console.log('ready');
  let sum = 0;
  let done = 0;
  try {
    for (; done < operations; done += tasks) sum += await start(0, tasks);
  } catch (error) {
    console.error(`cannot start a tree of ${tasks} leaves: ${error.message}`);
    console.log(`done ${done}`);
    console.log(`failed ${operations - done}`);
    process.exit(1);
  }
  console.log(`done ${operations}`);
  console.log(`check ${sum}`);
}

if (isMainThread) {
  await main();
} else {
  parentPort.postMessage(await node(workerData));
}
