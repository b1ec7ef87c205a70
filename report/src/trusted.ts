// Trusted Types: what may become a script or markup, in browsers that ask for it.

/** The rules of a policy that a page asks for, and what it may make. */
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

const programs = trustedTypes?.createPolicy("programs", { createScript: (own) => own });

/** Text as a script. Only for the page's own programs; the page's policy lets no others run. */
export const trusted = (text: string): string => programs?.createScript?.(text) ?? text;
