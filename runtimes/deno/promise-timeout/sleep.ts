// One call of an async function per task, which awaits a timer.

const [tasks, seconds] = Deno.args.map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error("usage: sleep.ts <tasks> <seconds>");

let started = 0;
let finished = 0;

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function task(): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${started - finished}`);
  await sleep(seconds * 1000);
  finished += 1;
}

const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) promises.push(task());
await Promise.all(promises);
console.log(`done ${finished}`);
