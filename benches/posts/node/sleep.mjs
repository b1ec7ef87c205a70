// The program of the second 2024 post: a promise per timer, and no function of the task's own.
import { promisify } from 'node:util';

const delay = promisify(setTimeout);
const [tasks, seconds] = process.argv.slice(2).map(Number);

const promises = [];
for (let i = 0; i < tasks; i += 1) promises.push(delay(seconds * 1000));
// No timer fires before this thread is done, so all of them wait.
console.log(`alive ${promises.length}`);
await Promise.all(promises);
console.log(`done ${promises.length}`);
