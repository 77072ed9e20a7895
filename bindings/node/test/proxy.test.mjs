// The real clients through `deadloop proxy` to the server that counts: needs the program, as $DEADLOOP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { prose, start, words } from "./server.mjs";

const skip = !process.env.DEADLOOP && !process.env.CI && "no program: set DEADLOOP";
let server;
let url;
let refusing;
const proxies = [];

/** A proxy before the server: its address. */
async function proxying(...options) {
  const args = ["proxy", "--listen", "127.0.0.1:0", "--upstream", server.url, ...options];
  const proxy = spawn(process.env.DEADLOOP, args, { stdio: ["ignore", "ignore", "pipe"] });
  proxies.push(proxy);
  for await (const line of createInterface(proxy.stderr)) {
    const at = line.split("listening at ")[1];
    if (at) return at;
  }
}

before(async () => {
  if (skip) return;
  server = await start();
  url = await proxying();
  const settings = join(mkdtempSync(join(tmpdir(), "deadloop-")), "settings.toml");
  const guard = (detector, more) => `[[guard]]\ndetector = "${detector}"\nresponse = "refuse"\n${more}`;
  writeFileSync(settings, guard("duplicate", "") + guard("periodic", 'channel = "arguments"\n'));
  refusing = await proxying("--settings", settings);
});
after(async () => {
  if (skip) return;
  for (const proxy of proxies) {
    proxy.kill("SIGTERM");
    const [code] = await once(proxy, "exit");
    assert.equal(code, 0);
  }
  server.close();
});

const messages = [{ role: "user", content: "Which road?" }];
const all = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

for (const model of ["loop-reasoning", "loop-answer"]) {
  test(`openai through the proxy: ${model}`, { skip }, async (t) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
    const chunks = await all(await client.chat.completions.create({ model, messages, stream: true }));
    assert.equal(chunks.at(-1).choices[0].finish_reason, "length");
    await server.stopped(t);
  });

  test(`anthropic through the proxy: ${model}`, { skip }, async (t) => {
    const client = new Anthropic({ baseURL: url, apiKey: "x", maxRetries: 0 });
    const message = await client.messages.stream({ model, messages, max_tokens: 9999 }).finalMessage();
    assert.equal(message.stop_reason, "max_tokens");
    await server.stopped(t);
  });
}

test("prose passes the proxy whole", { skip }, async () => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
  const chunks = await all(await client.chat.completions.create({ model: "prose", messages, stream: true }));
  const said = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
  assert.deepEqual(words(said), words(prose));
  assert.equal(chunks.at(-1).choices[0].finish_reason, "stop");
});

test("a refused call ends the response", { skip }, async () => {
  const openai = new OpenAI({ baseURL: `${refusing}/v1`, apiKey: "x", maxRetries: 0 });
  const chunks = await all(await openai.chat.completions.create({ model: "calls", messages, stream: true }));
  assert.equal(chunks.at(-1).choices[0].finish_reason, "length");
  const events = await all(await openai.responses.create({ model: "calls-loop", input: "Which road?", stream: true }));
  assert.equal(events.at(-1).type, "response.incomplete");
  const anthropic = new Anthropic({ baseURL: refusing, apiKey: "x", maxRetries: 0 });
  const message = await anthropic.messages.stream({ model: "calls", messages, max_tokens: 99 }).finalMessage();
  assert.equal(message.stop_reason, "max_tokens");
});
