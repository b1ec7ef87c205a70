// One call of an async function per task, which awaits a promise that the main program resolves.
import { setTimeout as sleep } from 'node:timers/promises';

const begin = performance.now();
const [tasks, seconds] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: park.mjs <tasks> <seconds>');

let started = 0;
let finished = 0;

async function task(message) {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await message;
  finished += 1;
}

const mailboxes = [];
const promises = [];
for (let i = 0; i < tasks; i += 1) {
  const message = new Promise((resolve) => mailboxes.push(resolve)); // Promise.withResolvers needs Node 22
  promises.push(task(message));
}
await sleep(Math.max(0, begin + seconds * 1000 - performance.now()));
for (const send of mailboxes) send();
await Promise.all(promises);
console.log(`done ${finished}`);
