// The same for Node.js before 14.8, whose modules have no top-level await.
import { promisify } from 'node:util';

const delay = promisify(setTimeout);

async function run(tasks, seconds) {
  const promises = [];
  for (let i = 0; i < tasks; i += 1) promises.push(delay(seconds * 1000));
  // No timer fires before this thread returns to its event loop, so all of them are waiting.
  console.log(`alive ${promises.length}`);
  const finished = await Promise.all(promises);
  console.log(`done ${finished.length}`);
}

const [tasks, seconds] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: timer-promise-sleep.mjs <tasks> <seconds>');
run(tasks, seconds);
