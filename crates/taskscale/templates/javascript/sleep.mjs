// One async function per task, waiting for a timer. Put your way of running tasks in its place.
import { argv, exit } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

// Shared by all tasks: the proof must add nothing to what a task holds.
let started = 0;
let finished = 0;

async function task(tasks, seconds) {
  started += 1;
  // The last to start says how many are alive. Node writes to a pipe at once.
  if (started === tasks) console.log(`alive ${started - finished}`);
  await sleep(seconds * 1000);
  finished += 1;
}

const numbers = argv.slice(2);
const [tasks, seconds] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
  console.error('usage: sleep.mjs <tasks> <seconds>: whole numbers, at least one task');
  exit(2);
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(task(tasks, seconds));
await Promise.all(promises);

console.log(`done ${finished}`);
