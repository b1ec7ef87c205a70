// What every part of the page is given.

import type { State } from "../state.ts";
import type { PageData } from "../types.ts";

export interface App {
  data: PageData;
  state: State;
  /** Changes the view, the address with it, and draws what depends on it. */
  set(change: Partial<State>): void;
}
