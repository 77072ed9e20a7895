// One table of streams for every live road: each ends at its guard with the alarm of the table (tests/roads.jsonl).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { guardedFetch, Guards, LoopError, loopMiddleware, Run, watch } from "deadloop";

const table = readFileSync(new URL("../../../tests/roads.jsonl", import.meta.url), "utf8");
const rows = table.trim().split("\n").map((line) => JSON.parse(line));
/** Text that stands behind each alarm. */
const BEHIND = "NEVER";

/** The events, each when it comes, as what `made` makes of it. */
async function* timed(events, made) {
  let before = 0;
  for (const event of events) {
    const now = event.t_ms ?? before;
    await wait(now - before);
    before = now;
    yield* made(event);
  }
}

/** Events as chunks of OpenAI's chat. */
function chat() {
  let calls = 0;
  const chunk = (delta, finish_reason = null) => [{ choices: [{ index: 0, delta, finish_reason }] }];
  return ({ type, text, id, name, arguments: args, reason }) => {
    if (type === "reasoning") return chunk({ reasoning_content: text });
    if (type === "answer") return chunk({ content: text });
    if (type === "tool_call") return chunk({ tool_calls: [{ index: calls++, id, function: { name, arguments: args } }] });
    if (type === "finish") return chunk({}, reason);
    throw new Error(`no response has ${type}`);
  };
}

/** Events as parts of a model of the AI SDK. */
function parts({ type, text, id, name, arguments: args, reason }) {
  if (type === "reasoning") return [{ type: "reasoning-delta", id: "1", delta: text }];
  if (type === "answer") return [{ type: "text-delta", id: "2", delta: text }];
  if (type === "finish") return [{ type, finishReason: { unified: reason, raw: reason } }];
  if (type !== "tool_call") throw new Error(`no model has ${type}`);
  const input = [{ type: "tool-input-start", id, toolName: name }, { type: "tool-input-delta", id, delta: args }];
  return [...input, { type: "tool-input-end", id }, { type: "tool-call", toolCallId: id, toolName: name, input: args }];
}

const encoder = new TextEncoder();
const RESPONSE = ["reasoning", "answer", "arguments", "calls", "ends", "silence"];
/** Each road with the feeds that it claims, and what it gives before it ends. */
const ROADS = {
  guardedFetch: [RESPONSE, async function* (guards, events) {
    const made = chat();
    const bytes = (event) => made(event).map((chunk) => encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
    const body = ReadableStream.from(timed(events, bytes));
    const inner = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
    const response = await guardedFetch({ guards, fetch: inner, strict: true })("http://x/", { method: "POST" });
    yield* response.body.pipeThrough(new TextDecoderStream());
  }],
  watch: [RESPONSE, (guards, events) => watch(timed(events, chat()), { guards, strict: true })],
  loopMiddleware: [RESPONSE.slice(0, -1), async function* (guards, events) {
    const doStream = async () => ({ stream: ReadableStream.from(timed(events, parts)) });
    const asked = { doStream, params: { prompt: [] }, model: { modelId: "m" } };
    yield* (await loopMiddleware({ guards, strict: true }).wrapStream(asked)).stream;
  }],
  Run: [["reasoning", "answer", "arguments", "calls", "results", "messages of users", "turns", "ends"], function* (guards, events) {
    const run = new Run({ guards, strict: true });
    for (const { type, text, id, name, arguments: args, content, reason } of events) {
      if (type === "reasoning" || type === "answer") run.says(text, type);
      if (type === "tool_call") {
        run.says(args, "arguments");
        run.call(name, args, id);
      }
      if (type === "tool_result") run.result(id, content);
      if (type === "user") run.user(text);
      if (type === "turn") run.turn();
      if (type === "finish") run.finish(reason);
      yield type === "answer" ? text : "";
    }
  }],
};

for (const [road, [claims, way]] of Object.entries(ROADS)) {
  test(`${road} ends each stream at its guard`, async () => {
    const tried = new Set();
    for (const { name, feed, settings, events, alarm } of rows) {
      const guards = Guards.parse(settings);
      let given = "";
      const ask = async () => {
        for await (const piece of way(guards, events)) given += typeof piece === "string" ? piece : JSON.stringify(piece);
      };
      if (!claims.includes(feed)) {
        if (alarm !== null) await assert.rejects(ask, /brings no guard/, name);
        continue;
      }
      if (road === "Run" && events.at(-1).type !== "finish") continue; // who runs it says when it is over
      let told = null;
      await ask().catch((error) => {
        if (!(error instanceof LoopError)) throw error;
        told = Object.fromEntries(Object.keys(alarm ?? error.alarm).map((key) => [key, error.alarm[key]]));
      });
      assert.deepEqual(told, alarm, name);
      assert.ok(!given.includes(BEHIND), name);
      tried.add(feed);
    }
    assert.deepEqual(tried, new Set(claims));
  });
}
