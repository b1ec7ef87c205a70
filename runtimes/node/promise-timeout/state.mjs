// One call of an async function per task, which holds bytes of its own while it awaits a timer.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { bytes: { type: 'string', default: '1024' }, depth: { type: 'string', default: '1' } },
});
const [tasks, seconds, bytes, depth] = [...positionals, values.bytes, values.depth].map(Number);
if (!(tasks > 0 && seconds >= 0 && bytes > 0 && depth > 0)) {
  throw new Error('usage: state.mjs <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]');
}

let started = 0;
let finished = 0;

async function task(number) {
  const sum = await hold(number, depth);
  finished += 1;
  return sum;
}

// Calls itself until it is `depth` calls deep. There it fills the state, waits, and returns the state's sum.
async function hold(number, calls) {
  if (calls > 1) return await hold(number, calls - 1);
  const state = new Uint8Array(bytes);
  for (let k = 0; k < bytes; k += 1) state[k] = (number + k) % 251;
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await sleep(seconds * 1000);
  let sum = 0;
  for (const value of state) sum += value;
  return sum;
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(task(i));
let sum = 0;
for (const each of await Promise.all(promises)) sum += each;
console.log(`done ${finished}`);
console.log(`check ${sum}`);
