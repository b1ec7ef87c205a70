import type { Browser } from "playwright-core";

export const program: string | undefined;
export function launch(): Promise<Browser>;
