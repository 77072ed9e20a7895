// What a push costs from node, in CPU time: node speed.mjs PACKAGE
import { readFileSync } from "node:fs";

const { Guards } = await import(new URL(`${process.argv[2]}/dist/index.js`, `file://${process.cwd()}/`).href);
const prose = readFileSync(new URL("prose.txt", import.meta.url), "utf8");
const ROUNDS = 200;

/** CPU time of a push in nanoseconds, the least of five tries. */
function nanoseconds(chunks) {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const guards = Array.from({ length: ROUNDS }, () => Guards.recommended().guard());
    const start = process.cpuUsage();
    for (const guard of guards) for (const chunk of chunks) guard.push(chunk, "answer");
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, ((user + system) * 1000) / (ROUNDS * chunks.length));
  }
  return best;
}

const tokens = prose.split(" ").map((word) => `${word} `);
console.log(`a push of a word from node: ${nanoseconds(tokens).toFixed(0)} ns of CPU`);
const whole = nanoseconds([prose]) / prose.length;
console.log(`a push of ${prose.length.toLocaleString("en")} chars from node: ${whole.toFixed(1)} ns of CPU a char`);
