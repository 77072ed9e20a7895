// The real clients against the server that counts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText, wrapLanguageModel } from "ai";
import { guardedFetch, Guards, LoopError, loopMiddleware, watch } from "deadloop";
import OpenAI from "openai";
import { prose, start, words } from "./server.mjs";

let server;
before(async () => {
  server = await start();
});
after(() => server.close());

const MODELS = ["loop-reasoning", "loop-answer"];
/** A call's arguments loop: what guards on text see where they are told to. */
const ARGUMENTS = Guards.parse('[[guard]]\ndetector = "periodic"\nchannel = "arguments"');
/** A second of silence. */
const STALL = Guards.parse('[[guard]]\ndetector = "stall"\n[guard.params]\nidle_ms = 1000\nfirst_ms = 60000');
const messages = [{ role: "user", content: "Which road?" }];
const openai = (fetch) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "x", maxRetries: 0, ...(fetch && { fetch }) });
const anthropic = (fetch) => new Anthropic({ baseURL: server.url, apiKey: "x", maxRetries: 0, ...(fetch && { fetch }) });
const all = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};
const channel = (model) => ({ alarm: { channel: model.replace("loop-", "") } });
const matches = (model) => (error) => error instanceof LoopError && error.alarm.channel === channel(model).alarm.channel;

for (const model of MODELS) {
  test(`openai, watch: ${model}`, async (t) => {
    const watched = watch(await openai().chat.completions.create({ model, messages, stream: true }));
    await assert.rejects(all(watched), matches(model));
    assert.equal(watched.alarm.channel, channel(model).alarm.channel);
    await server.stopped(t);
    const stream = await openai().chat.completions.create({ model, messages, stream: true });
    const chunks = await all(watch(stream, { onAlarm: "stop" }));
    assert.equal(chunks.at(-1).choices[0].finish_reason, "length");
    await server.stopped(t);
  });

  test(`openai, fetch: ${model}`, async (t) => {
    const ask = { model, messages, stream: true };
    const stream = await openai(guardedFetch()).chat.completions.create(ask);
    await assert.rejects(all(stream), matches(model));
    await server.stopped(t);
    const told = [];
    const ended = await openai(guardedFetch({ onAlarm: (alarm) => told.push(alarm) })).chat.completions.create(ask);
    assert.equal((await all(ended)).at(-1).choices[0].finish_reason, "length");
    assert.equal(told.length, 1);
    await server.stopped(t);
  });

  test(`openai, responses: ${model}`, async (t) => {
    const ask = { model, input: "Which road?", stream: true };
    await assert.rejects(all(watch(await openai().responses.create(ask))), matches(model));
    await server.stopped(t);
    const events = await all(await openai(guardedFetch({ onAlarm: "stop" })).responses.create(ask));
    assert.equal(events.at(-1).type, "response.incomplete");
    await server.stopped(t);
  });

  test(`anthropic: ${model}`, async (t) => {
    const ask = { model, messages, max_tokens: 9999 };
    await assert.rejects(all(watch(await anthropic().messages.create({ ...ask, stream: true }))), matches(model));
    await server.stopped(t);
    await assert.rejects(all(await anthropic(guardedFetch()).messages.create({ ...ask, stream: true })), matches(model));
    await server.stopped(t);
    const message = await anthropic(guardedFetch({ onAlarm: "stop" })).messages.stream(ask).finalMessage();
    assert.equal(message.stop_reason, "max_tokens");
    await server.stopped(t);
  });

  test(`Vercel's AI SDK, middleware: ${model}`, async (t) => {
    const provider = createOpenAICompatible({ name: "x", baseURL: `${server.url}/v1`, apiKey: "x" });
    const asked = (onAlarm) => wrapLanguageModel({ model: provider(model), middleware: loopMiddleware({ onAlarm }) });
    await assert.rejects(all(streamText({ model: asked("throw"), messages, maxRetries: 0 }).fullStream), matches(model));
    await server.stopped(t);
    const result = streamText({ model: asked("stop"), messages, maxRetries: 0 });
    const parts = await all(result.fullStream);
    assert.equal(await result.finishReason, "length");
    const kind = model === "loop-answer" ? "text-end" : "reasoning-end";
    assert.ok(parts.some((part) => part.type === kind));
    await server.stopped(t);
  });

  test(`Vercel's AI SDK, fetch: ${model}`, async (t) => {
    const options = { name: "x", baseURL: `${server.url}/v1`, apiKey: "x", fetch: guardedFetch() };
    const before_ = (await server.last()).requests;
    const stream = streamText({ model: createOpenAICompatible(options)(model), messages }).fullStream;
    // The SDK wraps what a fetch throws: prefer the middleware.
    await assert.rejects(all(stream), (error) => matches(model)(error.cause));
    await server.stopped(t);
    assert.equal((await server.last()).requests, before_ + 1, "not retried");
  });
}

test("prose passes whole", async () => {
  const ask = { model: "prose", messages, stream: true };
  for (const client of [openai(), openai(guardedFetch()), openai(guardedFetch({ onAlarm: "stop" }))]) {
    const chunks = await all(watch(await client.chat.completions.create(ask)));
    const said = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
    assert.deepEqual(words(said), words(prose));
    assert.equal(chunks.at(-1).choices[0].finish_reason, "stop");
    assert.ok(!(await server.last()).gone);
  }
});

test("Ollama's lines", async (t) => {
  const body = JSON.stringify({ model: "loop-answer", messages });
  const ask = { method: "POST", body };
  const stopped = await guardedFetch({ onAlarm: "stop" })(`${server.url}/api/chat`, ask);
  const lines = (await stopped.text()).trim().split(/\n+/).map((line) => JSON.parse(line));
  assert.deepEqual([lines.at(-1).done, lines.at(-1).done_reason], [true, "length"]);
  await server.stopped(t);
});

test("a stream that is left early is closed", async () => {
  const ask = { model: "prose", messages, stream: true };
  for await (const _ of watch(await openai(guardedFetch()).chat.completions.create(ask))) break;
  assert.ok((await server.last()).sent < 80);
});

test("the arguments of a call, of each API", async (t) => {
  const model = "loop-arguments";
  const loops = (error) => error instanceof LoopError && error.alarm.channel === "arguments";
  const chat = { model, messages, stream: true };
  for (const ask of [
    () => openai().chat.completions.create(chat),
    () => openai().responses.create({ model, input: "Which road?", stream: true }),
    () => anthropic().messages.create({ model, messages, max_tokens: 9999, stream: true }),
  ]) {
    await assert.rejects(all(watch(await ask(), { guards: ARGUMENTS })), loops);
    await server.stopped(t);
  }
  await assert.rejects(all(await openai(guardedFetch({ guards: ARGUMENTS })).chat.completions.create(chat)), loops);
  await server.stopped(t);
  const provider = createOpenAICompatible({ name: "x", baseURL: `${server.url}/v1`, apiKey: "x" });
  const watched = wrapLanguageModel({ model: provider(model), middleware: loopMiddleware({ guards: ARGUMENTS }) });
  await assert.rejects(all(streamText({ model: watched, messages, maxRetries: 0 }).fullStream), loops);
  await server.stopped(t);
});

test("a refusal ends nothing and is told", async () => {
  const settings = '[[guard]]\ndetector = "periodic"\nchannel = "answer"\nresponse = "refuse"';
  const guards = Guards.parse(settings);
  for (const listener of ["onRefuse", "onWarning"]) {
    const told = [];
    const options = { guards, [listener]: (alarm) => told.push(alarm.response) };
    const chunks = Array.from({ length: 50 }, () => "Wait, let me check the roads once more. ");
    assert.equal((await all(watch(chunks, options))).length, 50);
    assert.deepEqual(told, ["refuse"]);
  }
});

test("a stream that falls silent", async () => {
  const ask = { model: "stalls", messages, stream: true };
  const fell = (error) => error instanceof LoopError && error.alarm.kind === "stall";
  const start = Date.now();
  await assert.rejects(all(watch(await openai().chat.completions.create(ask), { guards: STALL })), fell);
  await assert.rejects(all(await openai(guardedFetch({ guards: STALL })).chat.completions.create(ask)), fell);
  assert.ok(Date.now() - start < 4500, "it is noticed while it lasts");
  const told = [];
  const warns = Guards.parse('[[guard]]\ndetector = "stall"\nresponse = "warn"\n[guard.params]\nidle_ms = 1000\nfirst_ms = 60000');
  const options = { guards: warns, onWarning: (alarm) => told.push(alarm.kind) };
  const chunks = await all(watch(await openai().chat.completions.create(ask), options));
  assert.deepEqual([chunks.at(-1).choices[0].finish_reason, told], ["stop", ["stall"]]);
});

const ENDING = Guards.parse('[[guard]]\ndetector = "ending"\n', "ending.toml");
const cutOff = '{"choices":[{"index":0,"delta":{"content":"It is fo"}}]}';

test("a response that is cut is judged at its end", async () => {
  const headers = { "content-type": "text/event-stream" };
  const inner = async () => new Response(`data: ${cutOff}\n\n`, { headers });
  const cut = await guardedFetch({ guards: ENDING, fetch: inner, strict: true })("http://x/", { method: "POST" });
  await assert.rejects(cut.text(), (error) => error instanceof LoopError && error.alarm.kind === "cut");
  const ended = await guardedFetch({ guards: ENDING, fetch: inner, onAlarm: "stop" })("http://x/", { method: "POST" });
  assert.ok((await ended.text()).length > cutOff.length + 8);
});

test("a model of the AI SDK that is cut is judged at its end", async () => {
  const parts = () => ReadableStream.from([{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "It is fo" }]);
  const run = async (onAlarm) => {
    const asked = { doStream: async () => ({ stream: parts() }), params: { prompt: [] }, model: { modelId: "m" } };
    const { stream } = await loopMiddleware({ guards: ENDING, onAlarm, strict: true }).wrapStream(asked);
    return all(stream);
  };
  await assert.rejects(run("raise"), (error) => error instanceof LoopError && error.alarm.kind === "cut");
  assert.deepEqual((await run("stop")).map((part) => part.type), ["text-start", "text-delta", "text-end", "finish"]);
});
