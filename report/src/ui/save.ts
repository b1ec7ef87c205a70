// Saves pictures: as SVG, or as PNG at twice the size on the screen.

import { h, offer } from "../dom.ts";

const PNG_SCALE = 2;

/** Two buttons that save what `picture` returns, if it returns a picture. */
export function saveButtons(name: string, picture: () => SVGSVGElement | undefined): HTMLElement[] {
  const save = (type: "svg" | "png") => async () => {
    const svg = picture();
    if (!svg) return;
    const text = new XMLSerializer().serializeToString(svg);
    const blob = new Blob([text], { type: "image/svg+xml" });
    offer(`${name}.${type}`, type === "svg" ? blob : await asPng(svg, blob));
  };
  return [
    h("button", { class: "button quiet", onclick: save("svg") }, "Save as SVG"),
    h("button", { class: "button quiet", onclick: save("png") }, "PNG"),
  ];
}

async function asPng(svg: SVGSVGElement, blob: Blob): Promise<Blob> {
  const address = URL.createObjectURL(blob);
  const image = new Image();
  image.src = address;
  await image.decode().finally(() => URL.revokeObjectURL(address));
  const canvas = document.createElement("canvas");
  canvas.width = Number(svg.getAttribute("width")) * PNG_SCALE;
  canvas.height = Number(svg.getAttribute("height")) * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  // Not an OffscreenCanvas: browsers with fingerprinting protection ask the user before they read this one.
  return await new Promise((made, failed) =>
    canvas.toBlob((png) => (png ? made(png) : failed(new Error("the browser created no image")))),
  );
}
