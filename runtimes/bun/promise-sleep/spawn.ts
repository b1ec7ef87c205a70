// One call of an async function per operation, whose promise is awaited for its result.

// The sum of more numbers than 134 million is above 2^53, where a number is no longer exact.
const MOST_OPERATIONS = 100_000_000;

async function task(number: number): Promise<number> {
  await null; // without an await the task would be over before its caller goes on
  return number;
}

const numbers = Bun.argv.slice(2);
const [tasks = 0, operations = 0] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || operations < 1 || operations > MOST_OPERATIONS) {
  console.error("usage: spawn.ts <tasks> <operations>: whole numbers, at least one of each, at most 100000000 operations");
  process.exit(2);
}
console.log("ready");

let sum = 0;
for (let first = 0; first < operations; first += tasks) {
  const end = Math.min(first + tasks, operations);
  const promises: Promise<number>[] = [];
  for (let number = first; number < end; number += 1) promises.push(task(number));
  for (const result of await Promise.all(promises)) sum += result;
}

console.log(`done ${operations}`);
console.log(`check ${sum}`);

export {};
