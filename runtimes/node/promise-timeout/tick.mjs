// One call of an async function per task, each a heartbeat that wakes once per period.
import { setImmediate as yieldToTimers, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const begin = performance.now();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    'period-ms': { type: 'string', default: '1000' },
    hogs: { type: 'string', default: '0' },
    'hog-ms': { type: 'string', default: '10' },
  },
});
const args = [...positionals, values['period-ms'], values.hogs, values['hog-ms']];
const [tasks, seconds, period, hogs, hogTime] = args.map(Number);
if (!(tasks > 0 && seconds >= 0 && period > 0 && hogs >= 0 && hogTime > 0)) {
  throw new Error('usage: tick.mjs <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]');
}

const end = begin + seconds * 1000;
let started = 0;
let finished = 0;
// Bucket b counts ticks that were late by at least 2^(b-1) and less than 2^b µs.
const late = new Array(32).fill(0);

async function task(number) {
  let due = begin + (period * number) / tasks;
  const now = performance.now();
  while (due < now) due += period;
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  for (; due < end; due += period) {
    await sleepUntil(due);
    const now = performance.now();
    if (now >= end) break;
    if (started === tasks) record(now - due);
  }
  await sleepUntil(end);
  finished += 1;
}

// Timers have whole milliseconds, and may fire slightly early.
async function sleepUntil(instant) {
  for (let left; (left = instant - performance.now()) > 0; ) await sleep(Math.ceil(left));
}

function record(lateness) {
  const bucket = 32 - Math.clz32(lateness * 1000);
  late[Math.min(bucket, late.length - 1)] += 1;
}

// Spins for `hogTime` ms and yields, until the end.
async function compute() {
  while (performance.now() < end) {
    const until = performance.now() + hogTime;
    while (performance.now() < until);
    await yieldToTimers();
  }
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(task(i));
for (let i = 0; i < hogs; i += 1) promises.push(compute());
await Promise.all(promises);
console.log(`done ${finished}`);
console.log(`histogram late_us ${late.join(' ')}`);
