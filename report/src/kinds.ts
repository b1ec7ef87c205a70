// What a task is to an entry, in the order in which kinds are shown: what is most of a task comes first.

export const KINDS = [
  { id: "thread", title: "OS threads", about: "scheduled by the kernel" },
  { id: "process", title: "Processes", about: "each with its own memory" },
  { id: "stackful", title: "Green threads", about: "goroutines, virtual threads, fibers: each with a stack" },
  { id: "stackless", title: "Async tasks", about: "scheduled by the runtime, without a stack" },
  { id: "future", title: "Futures in one task", about: "polled by the task that awaits them" },
  { id: "timer", title: "Timers", about: "without tasks" },
  { id: "program", title: "Programs", about: "black-box programs, each with its own tasks" },
] as const;

/** Where a kind stands among the others. */
export function kindPlace(kind: string): number {
  const place = KINDS.findIndex((known) => known.id === kind);
  return place < 0 ? KINDS.length : place;
}

/** Whether a task has a stack of its own, so that it can wait from within any depth of calls. */
export function stackful(kind: string): boolean {
  return ["thread", "process", "stackful"].includes(kind);
}

export function kindTitle(kind: string): string {
  return KINDS.find((known) => known.id === kind)?.title ?? kind;
}

/** The title of a kind within a sentence. */
export function kindName(kind: string): string {
  return kindTitle(kind).replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}
