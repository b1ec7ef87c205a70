// One call of an async function per task, all sharing one Map.

const [tasks, operations] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && operations > 0)) throw new Error('usage: map.mjs <tasks> <operations>');

const FILLED = 65_536; // entries before the tasks start

// i * 2654435761 mod 2^32. Math.imul, because the product may exceed 2^53, above which numbers are not exact.
function key(i) {
  return Math.imul(i, 2_654_435_761) >>> 0;
}

async function task(map, first, end) {
  await null; // without an await the function would run to its end inside the call
  let sum = 0;
  for (let j = first; j < end; j += 1) {
    map.set(key(FILLED + j), FILLED + j);
    sum += map.get(key(j % FILLED));
  }
  return sum;
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
