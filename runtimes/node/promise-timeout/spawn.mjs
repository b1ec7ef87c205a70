// One call of an async function per operation, whose promise is awaited for its result.

const [tasks, operations] = process.argv.slice(2).map(Number);
if (!(tasks > 0 && operations > 0)) throw new Error('usage: spawn.mjs <tasks> <operations>');

async function task(number) {
  await null; // without an await the function would run to its end inside the call
  return number;
}

console.log('ready');
let sum = 0;
for (let first = 0; first < operations; first += tasks) {
  const end = Math.min(first + tasks, operations);
  const promises = [];
  for (let number = first; number < end; number += 1) promises.push(task(number));
  for (const result of await Promise.all(promises)) sum += result;
}
console.log(`done ${operations}`);
console.log(`check ${sum}`);
