// One worker thread per operation, started and joined, each of which sends its number to the main thread.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

// Returns the task's number once its thread has exited.
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
  const [tasks, operations] = process.argv.slice(2).map(Number);
  if (!(tasks > 0 && operations > 0)) throw new Error('usage: spawn.mjs <tasks> <operations>');
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
    process.exit(1);
  }
  console.log(`done ${operations}`);
  console.log(`check ${sum}`);
}

if (isMainThread) {
  await main();
} else {
  parentPort.postMessage(workerData);
}
