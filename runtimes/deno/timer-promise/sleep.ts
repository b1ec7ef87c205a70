// One timer per task: the promise of setTimeout, without an async function of the task's own.

const [tasks, seconds] = Deno.args.map(Number);
if (!(tasks > 0 && seconds >= 0)) throw new Error("usage: sleep.ts <tasks> <seconds>");

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const promises: Promise<void>[] = [];
for (let i = 0; i < tasks; i += 1) promises.push(sleep(seconds * 1000));
// No timer fires before this thread returns to its event loop, so all of them are waiting.
console.log(`alive ${promises.length}`);
const finished = await Promise.all(promises);
console.log(`done ${finished.length}`);
