// One timer per task: the promise of Bun.sleep, and no async function of the task's own.

// A timer holds at most 2^31 - 1 ms.
const LONGEST_WAIT = 2_147_483;

const numbers = Bun.argv.slice(2);
const [tasks = 0, seconds = 0] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || tasks < 1 || seconds > LONGEST_WAIT) {
  console.error("usage: sleep.ts <tasks> <seconds>: whole numbers, at least one task, at most 2147483 seconds");
  process.exit(2);
}

const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) promises.push(Bun.sleep(seconds * 1000));
// No timer fires before this thread goes back to its event loop, so all of them wait.
console.log(`alive ${promises.length}`);
const finished = await Promise.all(promises);

console.log(`done ${finished.length}`);

export {};
