// A guard fed by hand, and the class that is asked about the whole text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadLoopDetector, Guards, LoopError, watch } from "deadloop";
import { prose, SENTENCE } from "./server.mjs";

const alarmOf = (guard, channel = "reasoning") => {
  for (let i = 0; i < 100; i++) {
    const { alarm } = guard.push(SENTENCE, channel);
    if (alarm !== null) return alarm;
  }
  throw new Error("no alarm");
};

test("an alarm stays", () => {
  const guard = Guards.recommended().guard("m");
  assert.equal(guard.alarm, null);
  const alarm = alarmOf(guard);
  assert.ok(guard.fired);
  assert.deepEqual(guard.alarm, alarm);
  assert.deepEqual(guard.push(SENTENCE, "reasoning"), { action: "stop", alarm, warnings: [] });
  assert.deepEqual([alarm.channel, alarm.kind, alarm.onset, alarm.copies], ["reasoning", "paragraph", 40, 5]);
  assert.match(alarm.logLine, /known at 200/);
  assert.match(alarm.userMessage, /in its thinking/);
  assert.deepEqual(alarmOf(guard.fresh()), alarm);
  assert.ok(new LoopError(alarm) instanceof Error);
});

test("what only warns is told once and ends nothing", async () => {
  const guards = Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "warn"');
  const guard = guards.guard();
  const decisions = Array.from({ length: 100 }, () => guard.push(SENTENCE, "reasoning"));
  assert.ok(decisions.every(({ action }) => action === "continue") && !guard.fired);
  const warned = decisions.flatMap(({ warnings }) => warnings.map((warning) => [warning.response, warning.kind]));
  assert.deepEqual(warned, [["warn", "paragraph"]]);
  const told = [];
  let chunks = 0;
  for await (const _ of watch(Array(100).fill(SENTENCE), { guards, onWarning: (warning) => told.push(warning.response) })) chunks++;
  assert.deepEqual([chunks, told], [100, ["warn"]]);
  const asked = new DeadLoopDetector({ guards, onWarning: (warning) => told.push(warning.kind) });
  assert.ok(!asked.detect(SENTENCE.repeat(100)).detected);
  assert.deepEqual(told, ["warn", "paragraph"]);
});

test("what is answered is known to the guard", async () => {
  const guard = '[[guard]]\ndetector = "periodic"\n';
  const skips = `prompt = "skip"\n${guard}`;
  const drills = `${guard}[[model]]\ntask = "drill"\n[[model.guard]]\ndetector = "periodic"\nenabled = false`;
  for (const [settings, answered, unit, stops] of [
    [skips, {}, SENTENCE, true],
    [skips, { user: ["Say it.", SENTENCE.repeat(60)] }, SENTENCE, false],
    [skips, { user: ["Say it."] }, SENTENCE, true],
    [`ignore = ['^Wait']\n${guard}`, {}, `${SENTENCE}\n`, false],
    [drills, { task: "drill" }, SENTENCE, false],
    [drills, { task: "chat" }, SENTENCE, true],
  ]) {
    const guards = Guards.parse(settings);
    const answering = guards.answering(answered);
    const says = (guard) => Array.from({ length: 50 }, () => guard.push(unit, "answer").action).includes("stop");
    const first = answering.guard("m");
    assert.equal(says(first), stops);
    assert.equal(says(first.fresh()), stops);
    let chunks = 0;
    for await (const _ of watch(Array(50).fill(unit), { guards: answering, onAlarm: "stop" })) chunks++;
    assert.equal(chunks < 50, stops);
    if (answered.task === undefined) {
      const byHand = guards.guard("m");
      for (const text of answered.user ?? []) assert.equal(byHand.user(text).action, "continue");
      assert.equal(says(byHand), stops);
    }
  }
});

test("prose is left alone", () => {
  const guard = Guards.recommended().guard();
  assert.equal(guard.push(prose, "answer").alarm, null);
  for (const word of prose.split(" ")) assert.equal(guard.push(`${word} `, "reasoning").alarm, null);
});

test("what is wrong has its place", () => {
  assert.throws(() => Guards.parse('[[guard]]\ndetector = "periodc"', "mine.toml"), /mine.toml:2:12: unknown detector/);
  assert.throws(() => Guards.load("/none/settings.toml"), /\/none\/settings.toml: /);
  const push = (text, channel) => () => Guards.recommended().guard().push(text, channel);
  assert.throws(push("x", "thought"), /"thought"; expected one of: reasoning, answer, arguments$/);
  for (const channel of ["tools", "turns"]) assert.throws(push("x", channel), /calls and turns have methods of their own/);
  assert.throws(push("reasoning", "x"), /the text comes first, then its channel: push\(text, channel\)/);
  assert.throws(() => Guards.recommended().blind(["clock"]), /"clock"; expected one of: reasoning/);
  assert.throws(() => watch([], { onAlarm: "halt" }), /onAlarm is "halt"; expected "throw", "raise", "stop"/);
});

test("any cut of a surrogate pair gives the same alarm, and positions in UTF-16", () => {
  const guards = Guards.recommended();
  for (const unit of ["ab😀c", "思考", "\ud83dx", "😀a"]) {
    const text = unit.repeat(400);
    const whole = guards.guard().push(text, "answer").alarm;
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const guard = guards.guard();
      let alarm = null;
      for (let at = 0; alarm === null && at < text.length; at += size) ({ alarm } = guard.push(text.slice(at, at + size), "answer"));
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

test("each response is a decision", () => {
  for (const [response, action] of [["stop", "stop"], ["refuse", "refuse"], ["warn", "continue"], ["observe", "continue"]]) {
    const guard = Guards.parse(`[[guard]]\ndetector = "duplicate"\nresponse = "${response}"\n[guard.params]\nn = 3`).guard();
    const before = [
      guard.user("Which road?"), guard.turn("a"), guard.turn(), guard.call("ls", { a: 1 }, "1"), guard.result("1", ["x", null]),
      guard.call("ls", '{"a": 1}', "2"), guard.result("2", "x", true), guard.silence(1.5),
    ];
    assert.ok(before.every((decision) => decision.action === "continue" && decision.warnings.length === 0), response);
    const decision = guard.call("ls", { a: 1 });
    assert.deepEqual([decision.action, guard.fired], [action, action === "stop"]);
    const alarms = decision.alarm === null ? decision.warnings : [decision.alarm];
    assert.deepEqual(alarms.map((alarm) => alarm.response), [response]);
    if (action === "refuse") assert.match(decision.alarm.refusal, /^This call was not run: the model was making the same tool call/);
    assert.equal(guard.call("ls", { a: 1 }).action, action);
    for (const later of [guard.handoff("a", "b"), guard.finish("stop"), guard.finish()]) {
      assert.equal(later.action, action === "stop" ? "stop" : "continue");
    }
  }
});

test("silence is an event", () => {
  const guard = Guards.parse('[[guard]]\ndetector = "stall"').guard();
  assert.equal(guard.push("It is", "answer").action, "continue");
  assert.equal(guard.silence(31).action, "stop");
  for (const wrong of [-1, NaN, Infinity]) assert.throws(() => guard.silence(wrong), /expected a number from 0 on/);
});

test("guards that see nothing are named once, and refused where that is asked for", (t) => {
  const guards = Guards.parse('[[guard]]\ndetector = "periodic"\n[[guard]]\ndetector = "error-run"');
  assert.deepEqual(guards.blind(["answer", "calls"]), ["error-run: no results"]);
  const warned = t.mock.method(console, "warn", () => {});
  watch([], { guards });
  watch([], { guards });
  watch([]);
  assert.equal(warned.mock.callCount(), 1);
  assert.match(warned.mock.calls[0].arguments[0], /error-run: no results.*feed a Guard by hand/);
  assert.throws(() => watch([], { guards, strict: true }), /error-run: no results/);
});

test("an error of a client that is closed does not hide the alarm", async () => {
  const stream = () => {
    const next = async () => ({ done: false, value: SENTENCE });
    return { [Symbol.asyncIterator]: () => ({ next, return: () => Promise.reject(new Error("closed twice")) }) };
  };
  for (const onAlarm of ["throw", "raise", undefined]) {
    await assert.rejects(async () => {
      for await (const _ of watch(stream(), { onAlarm }));
    }, LoopError);
  }
  const leaves = async () => {
    for await (const _ of watch(stream())) break;
  };
  await assert.rejects(leaves, /closed twice/, "without an alarm it is told");
});

test("texts of other chunks are watched by what says what is new", async () => {
  const texts = (chunk) => [[chunk.who, "answer", chunk.says]];
  const chunks = Array.from({ length: 100 }, (_, i) => ({ who: i % 2, says: SENTENCE }));
  const seen = [];
  await assert.rejects(async () => {
    for await (const chunk of watch(chunks, { texts })) seen.push(chunk);
  }, LoopError);
  assert.equal(seen.length, 8);
});

test("V8 collects guards that nobody holds", async () => {
  const guards = Guards.recommended();
  const before = process.memoryUsage().rss;
  let most = 0;
  for (let i = 0; i < 6000; i++) {
    guards.guard().push(`word ${i}`, "answer");
    if (i % 200 > 0) continue;
    await new Promise((resolve) => setTimeout(resolve));
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  // They take 1,000 MB together.
  assert.ok(most < 400e6, `${most}`);
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
