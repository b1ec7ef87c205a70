// What each section of the page receives, and its interface.

import type { State } from "../state.ts";
import type { PageData } from "../types.ts";

export interface App {
  data: PageData;
  state: State;
  /** Changes the view, the address with it, and draws what depends on it. */
  set(change: Partial<State>): void;
}

export interface Section {
  element: HTMLElement;
  /** Draws what the state shows now. */
  update(): void;
}
