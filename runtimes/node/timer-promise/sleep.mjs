// One timer per task: the promise of setTimeout, without a function of the task's own.
import { promisify } from 'node:util';

const [tasks, seconds] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error('usage: sleep.mjs <tasks> <seconds>');

const delay = promisify(setTimeout);

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(delay(seconds * 1000));
// No timer fires before this thread returns to its event loop, so all of them are waiting.
console.log(`alive ${promises.length}`);
const finished = await Promise.all(promises);
console.log(`done ${finished.length}`);
