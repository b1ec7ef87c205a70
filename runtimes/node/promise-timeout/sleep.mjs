// One call of an async function per task, which awaits a timer.
import { setTimeout as sleep } from 'node:timers/promises';

const [tasks, seconds] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: sleep.mjs <tasks> <seconds>');

let started = 0;
let finished = 0;

async function task() {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await sleep(seconds * 1000);
  finished += 1;
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(task());
await Promise.all(promises);
console.log(`done ${finished}`);
