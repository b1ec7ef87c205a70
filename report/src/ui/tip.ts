// The tooltip of the element with the pointer or the focus. Everything in it can also be read elsewhere.

import { type Child, fill, h } from "../dom.ts";

const panel = h("div", { class: "tip", id: "tip", hidden: true, "aria-hidden": "true" });

export function mountTip(): void {
  document.body.append(panel);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") panel.hidden = true;
  });
  addEventListener("scroll", hide, { passive: true });
}

export function hide(): void {
  panel.hidden = true;
}

export function tip(element: HTMLElement, content: () => Child[]): void {
  const show = (x: number, y: number) => {
    fill(panel, content());
    panel.hidden = false;
    const { width, height } = panel.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 16), Math.max(8, innerWidth - width - 8));
    const top = y + 20 + height > innerHeight ? Math.max(8, y - height - 12) : y + 20;
    panel.style.left = `${left}px`;
    panel.style.top = `${top}px`;
  };
  element.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") show(event.clientX, event.clientY);
  });
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse" || panel.hidden) return;
    show(event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", () => {
    if (!element.matches(":focus-visible")) return;
    const box = element.getBoundingClientRect();
    show(box.left + box.width / 3, box.bottom - 16);
  });
  element.addEventListener("blur", hide);
}
