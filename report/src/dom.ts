// Creates DOM elements. Texts become text nodes, so they are never parsed as markup.

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** An element. Attributes that are null, undefined or false are left out; functions are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (name.startsWith("--")) element.style.setProperty(name, String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/** Replaces the children of an element. Null, undefined and false are left out. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  const there = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...there);
}

/** A link to a web address. Other addresses become plain text. */
export function link(address: string): Node {
  if (!/^https?:\/\//.test(address)) return document.createTextNode(address);
  return h("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, address);
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id} in the page`);
  return element;
}

/** Downloads a file. */
export function offer(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
