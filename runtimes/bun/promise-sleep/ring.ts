// A ring of async functions, each of which awaits tokens from a channel of its own.
import { parseArgs } from "node:util";

// Holds one message, for one receiver; while it is full, one sender at a time may wait for room.
class Channel {
  #message?: number;
  #receiver?: (message: number) => void; // resolves the promise of a receiver that waits
  #sender?: () => void; // resolves the promise of a sender that waits

  async send(message: number): Promise<void> {
    if (this.#message !== undefined) {
      await new Promise<void>((resolve) => {
        this.#sender = resolve;
      });
    }
    if (this.#receiver) {
      this.#receiver(message);
      this.#receiver = undefined;
    } else {
      this.#message = message;
    }
  }

  receive(): Promise<number> {
    return new Promise((resolve) => {
      if (this.#message === undefined) {
        this.#receiver = resolve;
      } else {
        resolve(this.#message);
        this.#message = undefined;
        this.#sender?.();
      }
    });
  }
}

function words(): string[] {
  try {
    const options = { tokens: { type: "string", default: "1" } } as const;
    const { positionals, values } = parseArgs({ options, allowPositionals: true });
    return [...positionals, values.tokens];
  } catch {
    return [];
  }
}

const numbers = words();
const [tasks = 0, operations = 0, tokens = 0] = numbers.map(Number);
const whole = numbers.length === 3 && numbers.every((number) => /^\d+$/.test(number));
if (!whole || operations < 1 || tokens < 1 || tokens > tasks / 2) {
  console.error("usage: ring.ts <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks, and two for each token");
  process.exit(2);
}

let started = 0;
let noted = 0;
let sum = 0;

async function task(number: number, mailbox: Channel, next: Channel, allNoted: () => void): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${tasks}`);
  for (;;) {
    const hops = await mailbox.receive();
    if (hops > 0) {
      await next.send(hops - 1);
    } else {
      sum += number;
      noted += 1;
      if (noted === tokens) allNoted();
    }
  }
}

const ring = Array.from({ length: tasks }, () => new Channel());
const end = new Promise<void>((allNoted) => {
  ring.forEach((mailbox, number) => task(number, mailbox, ring[(number + 1) % tasks]!, allNoted));
});
console.log("ready");

for (let token = 0; token < tokens; token += 1) {
  const hops = Math.floor(operations / tokens) + (token < operations % tokens ? 1 : 0);
  ring[Math.floor((token * tasks) / tokens)]!.send(hops); // waits for nothing, as every task waits for a token
}
await end;

console.log(`done ${operations}`);
console.log(`check ${sum}`);
