// One call of an async function per node of a tree, which awaits its ten children.

const [tasks, operations] = Deno.args.map(Number);
if (!(tasks > 0 && operations > 0)) throw new Error("usage: skynet.ts <tasks> <operations>");

async function node(first: number, leaves: number): Promise<number> {
  if (leaves === 1) {
    await null; // without an await the leaf would run to its end inside the call
    return first;
  }
  const share = leaves / 10;
  const children: Promise<number>[] = [];
  for (let child = 0; child < 10; child += 1) children.push(node(first + child * share, share));
  let sum = 0;
  for (const result of await Promise.all(children)) sum += result;
  return sum;
}

console.log("ready");
let sum = 0;
for (let done = 0; done < operations; done += tasks) sum += await node(0, tasks);
console.log(`done ${operations}`);
console.log(`check ${sum}`);
