// Elements made by hand: texts are text nodes and nothing else, whatever they hold.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** An element. Attributes that are null, undefined or false are left out; functions are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (name.startsWith("--")) element.style.setProperty(name, String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children: (Child | Child[])[]): (Node | string)[] {
  return children
    .flat()
    .filter(
      (child): child is Node | string | number => child !== null && child !== undefined && child !== false,
    )
    .map((child) => (typeof child === "number" ? String(child) : child));
}

/** The same elements in the place of what was there. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(...nodes(children));
}

/** A link out, where the address is one of the web; else its text. */
export function link(address: string, text = address): Node {
  if (!/^https?:\/\//.test(address)) return document.createTextNode(text);
  return h("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, text);
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id} in the page`);
  return element;
}

/** Offers a text as a file. */
export function download(name: string, text: string, type: string): void {
  offer(name, new Blob([text], { type }));
}

export function offer(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
