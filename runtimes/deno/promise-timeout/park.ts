// One call of an async function per task, which awaits a promise that the main program resolves.

const begin = performance.now();
const [tasks, seconds] = Deno.args.map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error("usage: park.ts <tasks> <seconds>");

let started = 0;
let finished = 0;

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function task(message: Promise<void>): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await message;
  finished += 1;
}

const mailboxes: (() => void)[] = [];
const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) {
  const { promise, resolve } = Promise.withResolvers<void>();
  mailboxes.push(resolve);
  promises.push(task(promise));
}
await sleep(Math.max(0, begin + seconds * 1000 - performance.now()));
for (const send of mailboxes) send();
await Promise.all(promises);
console.log(`done ${finished}`);
