// One call of an async function per task, holding bytes of its own while it waits for the promise of a timer.
import { argv, exit } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

function usage() {
  console.error('usage: state.mjs <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: whole numbers, at least one task, byte and call');
  exit(2);
}

function numbers() {
  try {
    const { positionals, values } = parseArgs({
      args: argv.slice(2),
      allowPositionals: true,
      options: { bytes: { type: 'string', default: '1024' }, depth: { type: 'string', default: '1' } },
    });
    return [...positionals, values.bytes, values.depth];
  } catch {
    return usage();
  }
}

const words = numbers();
const [tasks, seconds, bytes, depth] = words.map(Number);
if (words.length !== 4 || !words.every((word) => /^\d+$/.test(word))) usage();
if (tasks < 1 || bytes < 1 || depth < 1 || seconds > LONGEST_WAIT) usage();

let started = 0;
let finished = 0;

async function task(number) {
  const sum = await hold(number, depth);
  finished += 1;
  return sum;
}

// Fills the bytes of a task so many calls down, waits, and sums them.
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
