// One call of an async function per task, waiting for the promise of a timer.

// A timer holds at most 2^31 - 1 ms, and fires at once when given more.
const LONGEST_WAIT = 2_147_483;

let started = 0;
let finished = 0;

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function task(tasks: number, seconds: number): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await sleep(seconds * 1000);
  finished += 1;
}

const numbers = Deno.args;
const [tasks, seconds] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
  console.error("usage: sleep.ts <tasks> <seconds>: whole numbers, at least one task, at most 2147483 seconds");
  Deno.exit(2);
}

const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) promises.push(task(tasks, seconds));
await Promise.all(promises);

console.log(`done ${finished}`);
