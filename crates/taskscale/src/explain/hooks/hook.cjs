// Required in each Node.js program of an explained run: at SIGUSR2 it writes what V8's heap holds.
"use strict";
const { renameSync, writeFileSync } = require("node:fs");
const v8 = require("node:v8");

const folder = process.env.TASKSCALE_PROBE;

function answer() {
  const lines = v8.getHeapSpaceStatistics().flatMap((space) => {
    const name = space.space_name.replaceAll("_", " ");
    const unused = space.physical_space_size - space.space_used_size;
    return [`live ${space.space_used_size} ${name}`, `unused ${unused} free in ${name}`];
  });
  // Buffers, and what V8 takes by malloc, are in mappings that have rows of their own.
  const asked = `${folder}/${process.pid}.asked`;
  writeFileSync(asked, `${lines.join("\n")}\n`);
  renameSync(asked, `${folder}/${process.pid}.parts`);
}

if (folder) {
  process.on("SIGUSR2", answer);
  writeFileSync(`${folder}/${process.pid}.ready`, "");
}
