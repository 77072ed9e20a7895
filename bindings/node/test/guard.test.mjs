// A guard fed by hand, and the class that is asked about the whole text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadLoopDetector, Guards, LoopError, watch } from "deadloop";
import { prose, SENTENCE } from "./server.mjs";

const alarmOf = (guard, channel = "reasoning") => {
  for (let i = 0; i < 100; i++) {
    const alarm = guard.push(channel, SENTENCE);
    if (alarm !== null) return alarm;
  }
  throw new Error("no alarm");
};

test("the library is the one that these tests are for", () => {
  const loaded = process.report.getReport().sharedObjects.some((name) => name.endsWith(".node"));
  assert.equal(loaded, !process.env.DEADLOOP_WASM);
});

test("an alarm comes once and stays on the guard", () => {
  const guard = Guards.recommended().guard("m");
  assert.equal(guard.alarm, null);
  const alarm = alarmOf(guard);
  assert.ok(guard.fired);
  assert.equal(guard.alarm, alarm);
  assert.equal(guard.push("reasoning", SENTENCE), null);
  assert.deepEqual([alarm.channel, alarm.kind, alarm.onset, alarm.copies], ["reasoning", "paragraph", 40, 5]);
  assert.match(alarm.logLine, /known at 200/);
  assert.match(alarm.userMessage, /in its thinking/);
  assert.deepEqual(alarmOf(guard.fresh()), alarm);
  assert.ok(new LoopError(alarm) instanceof Error);
});

test("what only warns is told once and ends nothing", async () => {
  const guards = Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "warn"');
  const guard = guards.guard();
  for (let i = 0; i < 100; i++) assert.equal(guard.push("reasoning", SENTENCE), null);
  assert.deepEqual(guard.warnings().map((warning) => [warning.response, warning.kind]), [["warn", "paragraph"]]);
  assert.deepEqual([guard.warnings(), guard.fired], [[], false]);
  const told = [];
  let chunks = 0;
  for await (const _ of watch(Array(100).fill(SENTENCE), { guards, onWarning: (warning) => told.push(warning.response) })) chunks++;
  assert.deepEqual([chunks, told], [100, ["warn"]]);
  const asked = new DeadLoopDetector({ guards, onWarning: (warning) => told.push(warning.kind) });
  assert.ok(!asked.detect(SENTENCE.repeat(100)).detected);
  assert.deepEqual(told, ["warn", "paragraph"]);
});

test("prose is left alone", () => {
  const guard = Guards.recommended().guard();
  assert.equal(guard.push("answer", prose), null);
  for (const word of prose.split(" ")) assert.equal(guard.push("reasoning", `${word} `), null);
});

test("what is wrong has its place", () => {
  assert.throws(() => Guards.parse('[[guard]]\ndetector = "periodc"', "mine.toml"), /mine.toml:2:12: unknown detector/);
  assert.throws(() => Guards.load("/none/settings.toml"), /\/none\/settings.toml: /);
  assert.throws(() => Guards.recommended().guard().push("thought", "x"), /"thought"; there is: reasoning, answer/);
});

test("any cut of a surrogate pair gives the same alarm, and positions in UTF-16", () => {
  const guards = Guards.recommended();
  for (const unit of ["ab😀c", "思考", "\ud83dx", "😀a"]) {
    const text = unit.repeat(400);
    const whole = guards.guard().push("answer", text);
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const guard = guards.guard();
      let alarm = null;
      for (let at = 0; alarm === null && at < text.length; at += size) alarm = guard.push("answer", text.slice(at, at + size));
      for (const name of ["exact", "onset", "period", "unit", "exactUtf16", "onsetUtf16"]) {
        assert.equal(alarm[name], whole[name], `${unit} by ${size}: ${name}`);
      }
      const chars = Array.from(text.toWellFormed?.() ?? text);
      const units = (n) => chars.slice(0, n).join("").length;
      assert.equal(alarm.exactUtf16, units(alarm.exact));
      assert.equal(alarm.deliveredUtf16, units(alarm.delivered));
    }
  }
});

test("a guard for each of several answers", async () => {
  const chunk = (index) => ({ choices: [{ index, delta: { content: SENTENCE } }] });
  const calm = [0, 1, 0, 1, 0, 1, 0, 1].map(chunk);
  const seen = [];
  for await (const one of watch(calm)) seen.push(one);
  assert.equal(seen.length, 8);
  await assert.rejects(async () => {
    for await (const one of watch([...calm, chunk(1)])) seen.push(one);
  }, LoopError);
});

// The design document's order of calls: detect after each chunk with all of the text, reset at each request.
const settings = '[[guard]]\ndetector = "checkpoint"\npreset = "document"\n[guard.params]\npartial_tail = "drop"\n';
const loops = {
  "short-sequence": "思考".repeat(2000),
  paragraph: "今天天气真好，我们出去玩吧，先去看看那条河边的旧路还在不在，再从山后面走回来。然后我需要重新分析一下这个问题的每一个步骤，看看哪里错了！".repeat(100),
  "ordered-list": Array.from({ length: 600 }, (_, i) => `${i + 1}. ${["分析需求", "设计方案"][i % 2]}\n`).join(""),
};

for (const [kind, text] of Object.entries(loops)) {
  test(`the drop-in class finds a ${kind} and forgets it`, () => {
    const detector = new DeadLoopDetector({ guards: Guards.parse(settings) });
    for (let request = 0; request < 2; request++) {
      detector.reset();
      let message = "😀 我需要分析这个问题。";
      let found = { detected: false };
      for (let at = 0; at < text.length && !found.detected; at += 13) {
        message += text.slice(at, at + 13);
        found = detector.detect(message);
      }
      assert.equal(found.type, kind);
      assert.ok(found.details.includes("checkpoint"));
      assert.ok(detector.detect(message).detected, "it stays so");
    }
    assert.deepEqual(detector.detect("a new text, shorter"), { detected: false });
  });
}
