// One call of an async function per node of a tree, each awaiting the promises of its ten children.

// The sums of all trees stay below 2^53, above which a number is no longer exact.
const MOST_OPERATIONS = 100_000_000;

async function node(first: number, leaves: number): Promise<number> {
  if (leaves === 1) {
    await null; // without an await the leaf would be over before its parent goes on
    return first;
  }
  const size = leaves / 10;
  const children: Promise<number>[] = [];
  for (let child = 0; child < 10; child += 1) children.push(node(first + child * size, size));
  let sum = 0;
  for (const result of await Promise.all(children)) sum += result;
  return sum;
}

const numbers = Bun.argv.slice(2);
const [tasks = 0, operations = 0] = numbers.map(Number);
const whole = numbers.length === 2 && numbers.every((number) => /^\d+$/.test(number));
const powerOfTen = /^10*$/.test(numbers[0] ?? "");
if (!whole || !powerOfTen || operations < 1 || operations > MOST_OPERATIONS || operations % tasks !== 0) {
  console.error("usage: skynet.ts <tasks> <operations>: tasks a power of ten, operations a multiple of them, at most 100000000");
  process.exit(2);
}
console.log("ready");

let sum = 0;
for (let done = 0; done < operations; done += tasks) sum += await node(0, tasks);

console.log(`done ${operations}`);
console.log(`check ${sum}`);

export {};
