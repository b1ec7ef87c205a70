// One timer per task: the promise of setTimeout, and no function of the task's own.
import { argv, exit } from 'node:process';
import { promisify } from 'node:util';

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

const delay = promisify(setTimeout);

const numbers = argv.slice(2);
const [tasks, seconds] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
  console.error('usage: sleep.mjs <tasks> <seconds>: whole numbers, at least one task, at most 2147483 seconds');
  exit(2);
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(delay(seconds * 1000));
// No timer fires before this thread goes back to its event loop, so all of them wait.
console.log(`alive ${promises.length}`);
const finished = await Promise.all(promises);

console.log(`done ${finished.length}`);
