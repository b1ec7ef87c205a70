// Trusted Types: what may become a script or markup, in browsers that ask for it.

/** Rules of a Trusted Types policy, and the policy itself. */
interface Policy {
  createHTML?(text: string): string;
  createScript?(text: string): string;
}
type Factory = { createPolicy(name: string, rules: Policy): Policy };

const trustedTypes = (window as { trustedTypes?: Factory }).trustedTypes;

/** Changed by the page's design and not by data: the only thing that the charts' own markup may be is nothing. */
export function forbidMarkup(): void {
  trustedTypes?.createPolicy("default", {
    createHTML: (text: string) => {
      if (text !== "" && text !== "null") throw new TypeError("this page makes no markup from texts");
      return text;
    },
  });
}

let scriptPolicy: Policy | undefined;

/** Text as a script. Only for the page's own programs, as its policy blocks all others. */
export function trusted(text: string): string {
  // Created when first asked for: where a browser refuses it, only charts and highlighting are missing.
  scriptPolicy ??= trustedTypes?.createPolicy("programs", { createScript: (own) => own });
  return scriptPolicy?.createScript?.(text) ?? text;
}
