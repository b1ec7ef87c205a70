// One call of an async function per task, each a heartbeat: it wakes once in every period.
import { argv, exit } from 'node:process';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

function usage() {
  console.error('usage: tick.mjs <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: whole numbers, at least one task and millisecond');
  exit(2);
}

function numbers() {
  try {
    const { positionals, values } = parseArgs({
      args: argv.slice(2),
      allowPositionals: true,
      options: {
        'period-ms': { type: 'string', default: '1000' },
        hogs: { type: 'string', default: '0' },
        'hog-ms': { type: 'string', default: '10' },
      },
    });
    return [...positionals, values['period-ms'], values.hogs, values['hog-ms']];
  } catch {
    return usage();
  }
}

const words = numbers();
const [tasks, seconds, period, hogs, hog] = words.map(Number);
if (words.length !== 5 || !words.every((word) => /^\d+$/.test(word))) usage();
if (tasks < 1 || period < 1 || hog < 1 || seconds > LONGEST_WAIT) usage();

// Instants in ms, of the monotonic clock.
const begin = performance.now();
const end = begin + seconds * 1000;
let started = 0;
let finished = 0;
// Bucket b: ticks that were late by less than 2^b µs, and not less than half of that.
const late = new Array(32).fill(0);

async function task(number) {
  let due = begin + (period * number) / tasks;
  const start = performance.now();
  while (due < start) due += period;
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  for (; due < end; due += period) {
    await sleepUntil(due);
    const now = performance.now();
    if (now >= end) break;
    if (started === tasks) count(now - due);
  }
  await sleepUntil(end);
  finished += 1;
}

// A timer is of whole milliseconds, and may fire a little too soon.
async function sleepUntil(instant) {
  for (let left; (left = instant - performance.now()) > 0; ) await sleep(Math.ceil(left));
}

function count(ms) {
  const bucket = 32 - Math.clz32(ms * 1000);
  late[Math.min(bucket, late.length - 1)] += 1;
}

// Computes, yields, and so on.
async function compute() {
  while (performance.now() < end) {
    const until = performance.now() + hog;
    while (performance.now() < until);
    await turn();
  }
}

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(task(i));
for (let i = 0; i < hogs; i += 1) promises.push(compute());
await Promise.all(promises);

console.log(`done ${finished}`);
console.log(`histogram late_us ${late.join(' ')}`);
