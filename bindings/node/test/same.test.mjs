// The vectors and cases: the same alarms as Rust, at any chunking. `scripts/bindings` makes the files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Guards } from "deadloop";

const folder = process.env.DEADLOOP_INPUTS;
const SIZES = [1, 7, 50, 0];
const lines = (name) => readFileSync(`${folder}/${name}`, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

/** An alarm as Rust writes it. */
function asRust(alarm) {
  const { exactUtf16: _, deliveredUtf16: __, onsetUtf16: ___, logLine, userMessage, refusal, ...rest } = alarm;
  return { ...rest, log_line: logLine, user_message: userMessage, refusal };
}

/** The alarm of an input. */
function told(guards, item, size) {
  const guard = guards.guard(item.model);
  for (const [channel, text] of item.pieces) {
    const chars = Array.from(text);
    const step = size || Math.max(chars.length, 1);
    for (let at = 0; at < chars.length; at += step) {
      const { alarm } = guard.push(chars.slice(at, at + step).join(""), channel);
      if (alarm !== null) return asRust(alarm);
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

/** An event, by the method that there is for it. */
const PUSH = {
  text: (guard, event) => guard.push(event.text, event.channel),
  call: (guard, event) => guard.call(event.name, event.arguments, event.id ?? undefined),
  result: (guard, event) => guard.result(event.id ?? undefined, event.content, event.error ?? undefined),
  turn: (guard, event) => guard.turn(event.agent ?? undefined),
  user: (guard, event) => guard.user(event.text),
  handoff: (guard, event) => guard.handoff(event.from, event.to),
  silence: (guard, event) => guard.silence(event.seconds),
  closed: (guard) => guard.closed(),
  finish: (guard, event) => guard.finish(event.reason ?? undefined),
};

/** What a guard decides, as Rust writes it. */
function decided(item) {
  const guard = Guards.parse(item.settings).guard();
  const decisions = [];
  for (const [number, event] of item.events.entries()) {
    const { action, alarm, warnings } = PUSH[event.type](guard, event);
    const wire = { action, alarm: alarm && asRust(alarm), warnings: warnings.map(asRust) };
    if (action !== "continue" || warnings.length > 0) decisions.push([number, wire]);
    if (action === "stop") break;
  }
  return decisions;
}

test("every event and every detector", { skip }, () => {
  const items = lines("events.jsonl");
  const fired = new Set();
  for (const item of items) {
    assert.deepEqual(decided(item), item.told, item.name);
    if (item.told.length > 0) fired.add(item.name.split(" ")[0]);
  }
  assert.ok(fired.size > 20, `${fired.size}`);
});
