// The vectors and cases: the same alarms as Rust, at any chunking. `scripts/bindings` makes the files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Guards } from "deadloop";

const folder = process.env.DEADLOOP_INPUTS;
const SIZES = [1, 7, 50, 0];
const lines = (name) => readFileSync(`${folder}/${name}`, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

/** The alarm as Rust writes it. */
function told(guards, item, size) {
  const guard = guards.guard(item.model);
  for (const [channel, text] of item.pieces) {
    const chars = Array.from(text);
    const step = size || Math.max(chars.length, 1);
    for (let at = 0; at < chars.length; at += step) {
      const alarm = guard.push(channel, chars.slice(at, at + step).join(""));
      if (alarm === null) continue;
      const { exactUtf16: _, deliveredUtf16: __, onsetUtf16: ___, logLine, userMessage, ...rest } = alarm;
      return { ...rest, log_line: logLine, user_message: userMessage };
    }
  }
  return null;
}

const skip = folder === undefined && !process.env.CI && "DEADLOOP_INPUTS names no folder";
test("every input", { skip }, () => {
  const inputs = lines("inputs.jsonl");
  const rust = lines("alarms.jsonl");
  assert.equal(inputs.length, rust.length);
  let found = 0;
  for (const [i, item] of inputs.entries()) {
    let guards;
    try {
      guards = item.settings === null ? Guards.recommended() : Guards.parse(item.settings);
    } catch (e) {
      assert.equal(e.message, rust[i].refused, item.name);
      continue;
    }
    assert.equal(guards.id, rust[i].id);
    const alarms = SIZES.map((size) => told(guards, item, size));
    assert.deepEqual(alarms, rust[i].alarms, item.name);
    if (item.expect) assert.equal(alarms[0].exact, item.expect.at, item.name);
    found += alarms[0] === null ? 0 : 1;
  }
  assert.ok(found > 500, `${found}`);
});
