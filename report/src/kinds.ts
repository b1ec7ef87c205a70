// What a task is to an entry, in the order in which kinds are shown: what is most of a task comes first.

export const KINDS = [
  { id: "thread", title: "Threads", about: "threads of the operating system" },
  { id: "process", title: "Processes", about: "processes of the operating system" },
  { id: "stackful", title: "Stackful tasks", about: "goroutines, virtual threads, fibers: a stack each" },
  { id: "stackless", title: "Stackless tasks", about: "async tasks without a stack" },
  { id: "future", title: "Futures", about: "many futures inside one task" },
  { id: "timer", title: "Timers", about: "no tasks at all" },
  { id: "program", title: "Programs", about: "whatever each makes of a task" },
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
