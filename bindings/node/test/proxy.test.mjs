// The real clients through `deadloop proxy` to the server that counts: needs the program, as $DEADLOOP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { prose, start, words } from "./server.mjs";

const skip = !process.env.DEADLOOP && !process.env.CI && "no program: set DEADLOOP";
let server;
let proxy;
let url;
before(async () => {
  if (skip) return;
  server = await start();
  const args = ["proxy", "--listen", "127.0.0.1:0", "--upstream", server.url, "--grace", "5"];
  proxy = spawn(process.env.DEADLOOP, args, { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface(proxy.stderr)) {
    url = line.split("listening at ")[1];
    if (url) break;
  }
});
after(async () => {
  if (skip) return;
  proxy.kill("SIGTERM");
  const [code] = await once(proxy, "exit");
  server.close();
  assert.equal(code, 0);
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
