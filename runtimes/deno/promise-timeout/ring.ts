// A ring of async functions, each of which receives tokens from a channel of its own and passes them on.
import { parseArgs } from "node:util";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { tokens: { type: "string", default: "1" } },
});
const [tasks, operations, tokens] = [...positionals, values.tokens].map(Number);
if (!(tasks > 1 && operations > 0 && tokens > 0)) {
  throw new Error("usage: ring.ts <tasks> <operations> [--tokens <tokens>]");
}

// Holds one message. One sender and one receiver use it at a time.
class Channel {
  #message?: number;
  #receiver?: (message: number) => void; // resolves the promise of a waiting receiver
  #sender?: () => void; // resolves the promise of a waiting sender

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

let started = 0;
let stopped = 0;
let sum = 0;

async function task(number: number, mailbox: Channel, next: Channel, allStopped: () => void): Promise<void> {
  started += 1;
  if (started === tasks) console.log(`alive ${tasks}`);
  for (;;) {
    const hops = await mailbox.receive();
    if (hops > 0) {
      await next.send(hops - 1);
    } else {
      sum += number;
      stopped += 1;
      if (stopped === tokens) allStopped();
    }
  }
}

const ring = Array.from({ length: tasks }, () => new Channel());
const end = new Promise<void>((allStopped) => {
  ring.forEach((mailbox, number) => task(number, mailbox, ring[(number + 1) % tasks], allStopped));
});
console.log("ready");

for (let token = 0; token < tokens; token += 1) {
  const hops = Math.floor(operations / tokens) + (token < operations % tokens ? 1 : 0);
  ring[Math.floor((token * tasks) / tokens)].send(hops); // not awaited: each task is waiting for a token
}
await end;
console.log(`done ${operations}`);
console.log(`check ${sum}`);
