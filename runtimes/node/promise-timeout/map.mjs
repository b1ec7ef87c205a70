// One call of an async function per task, all of which share a Map.
import { argv, exit } from 'node:process';

const FILLED = 65_536;
const MOST_OPERATIONS = 10_000_000; // a Map holds at most 2^24 entries

// i * 2654435761 mod 2^32; the product itself may be above 2^53, where a number is no longer exact.
function key(i) {
  return Math.imul(i, 2_654_435_761) >>> 0;
}

async function task(map, first, end) {
  await null; // without an await the task would be over before its caller goes on
  let sum = 0;
  for (let j = first; j < end; j += 1) {
    map.set(key(FILLED + j), FILLED + j);
    sum += map.get(key(j % FILLED));
  }
  return sum;
}

const numbers = argv.slice(2);
const [tasks, operations] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || operations < 1 || operations > MOST_OPERATIONS) {
  console.error('usage: map.mjs <tasks> <operations>: whole numbers, at least one of each, at most 10000000 operations');
  exit(2);
}

const map = new Map();
for (let i = 0; i < FILLED; i += 1) map.set(key(i), i);
console.log('ready');

const promises = [];
for (let k = 0; k < tasks; k += 1) {
  const first = Math.floor((k * operations) / tasks);
  const end = Math.floor(((k + 1) * operations) / tasks);
  promises.push(task(map, first, end));
}
let sum = 0;
for (const result of await Promise.all(promises)) sum += result;

console.log(`done ${operations}`);
console.log(`check ${sum + map.size}`);
