// Trusted Types: which texts may become scripts or markup, in browsers that enforce them.

/** Rules of a Trusted Types policy, and the policy itself. */
interface Policy {
  createHTML?(text: string): string;
  createScript?(text: string): string;
}
type Factory = { createPolicy(name: string, rules: Policy): Policy };

const trustedTypes = (window as { trustedTypes?: Factory }).trustedTypes;

/** Forbids markup from texts. The chart library may only set empty markup. */
export function forbidMarkup(): void {
  trustedTypes?.createPolicy("default", {
    createHTML: (text: string) => {
      if (text !== "" && text !== "null") throw new TypeError("this page makes no markup from texts");
      return text;
    },
  });
}

let scriptPolicy: Policy | undefined;

/** Allows a text as a script. The page's Content Security Policy still blocks all but its own programs. */
export function trusted(text: string): string {
  // Created on first use: a browser that refuses it lacks only charts and highlighting.
  scriptPolicy ??= trustedTypes?.createPolicy("programs", { createScript: (own) => own });
  return scriptPolicy?.createScript?.(text) ?? text;
}
