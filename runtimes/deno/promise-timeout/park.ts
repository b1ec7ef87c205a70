// One call of an async function per task, each waiting for a promise that the main program keeps.

const begin = performance.now();

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

let started = 0;
let finished = 0;

async function task(tasks: number, message: Promise<void>): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await message;
  finished += 1;
}

const numbers = Deno.args;
const [tasks, seconds] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
  console.error("usage: park.ts <tasks> <seconds>: whole numbers, at least one task, at most 2147483 seconds");
  Deno.exit(2);
}

const mailboxes: (() => void)[] = [];
const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) {
  const { promise, resolve } = Promise.withResolvers<void>();
  mailboxes.push(resolve);
  promises.push(task(tasks, promise));
}
await sleep(Math.max(0, begin + seconds * 1000 - performance.now()));
for (const send of mailboxes) send();
await Promise.all(promises);

console.log(`done ${finished}`);
