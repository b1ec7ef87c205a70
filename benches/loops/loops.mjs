// Loops by promises: nanoseconds an operation.
import { argv } from 'node:process';

const ROUND = 1_000_000;

async function nothing() {
  await null; // without an await it would be over before its caller goes on
}

async function spawnOne() {
  for (let i = 0; i < ROUND; i++) await nothing();
}

async function spawnThousand() {
  for (let i = 0; i < ROUND / 1000; i++) await Promise.all(Array.from({ length: 1000 }, nothing));
}

// A promise for each message: resolved by whoever sends it.
class Slot {
  constructor() {
    this.renew();
  }

  renew() {
    this.message = new Promise((resolve) => {
      this.send = resolve;
    });
  }

  async receive() {
    const message = await this.message;
    this.renew();
    return message;
  }
}

async function hop() {
  const [there, back] = [new Slot(), new Slot()];
  const answer = async () => {
    for (let i = 0; i < ROUND / 2; i++) {
      const message = await there.receive();
      back.send(message);
    }
  };
  const other = answer();
  for (let i = 0; i < ROUND / 2; i++) {
    there.send(i);
    await back.receive();
  }
  await other;
}

function pair() {
  const key = (i) => Math.imul(i, 2_654_435_761) >>> 0;
  const entries = new Map();
  for (let i = 0; i < 65_536; i++) entries.set(key(i), i);
  let sum = 0;
  for (let j = 0; j < ROUND; j++) {
    entries.set(key(65_536 + j), 65_536 + j);
    sum += entries.get(key(j % 65_536));
  }
  return sum;
}

// As atemerev/skynet, by Promise.all.
async function node(first, leaves) {
  await null;
  if (leaves === 1) return first;
  const share = leaves / 10;
  const children = Array.from({ length: 10 }, (_, i) => node(first + i * share, share));
  return (await Promise.all(children)).reduce((sum, each) => sum + each);
}

async function leaf() {
  if ((await node(0, ROUND)) !== 499_999_500_000) throw new Error('a wrong sum');
}

const loops = { 'spawn-one': spawnOne, 'spawn-thousand': spawnThousand, hop, pair, leaf };
const start = performance.now();
await loops[argv[2]]();
console.log((((performance.now() - start) * 1e6) / ROUND).toFixed(1));
