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
  const args = ["proxy", "--listen", "127.0.0.1:0", "--upstream", server.url, "--grace", "5", ...options];
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

const refusal = (tool) => new RegExp(`^\\[deadloop refused a call of ${tool}\\. This call was not run: `);

for (const stream of [true, false]) {
  const how = stream ? "streamed" : "whole";

  test(`openai sees a refused call as text, ${how}`, { skip }, async () => {
    const client = new OpenAI({ baseURL: `${refusing}/v1`, apiKey: "x", maxRetries: 0 });
    const asked = async (model) => {
      const ask = { model, messages };
      const completion = stream
        ? await client.chat.completions.stream(ask).finalChatCompletion()
        : await client.chat.completions.create(ask);
      return completion.choices[0];
    };
    let choice = await asked("calls");
    assert.deepEqual(choice.message.tool_calls.map((call) => call.id), ["call_0", "call_1", "call_3"]);
    assert.match(choice.message.content, refusal("ls"));
    assert.equal(choice.finish_reason, "tool_calls");
    choice = await asked("calls-loop");
    assert.equal(choice.message.tool_calls?.length ?? 0, 0);
    assert.match(choice.message.content, refusal("write"));
    assert.equal(choice.finish_reason, "stop");
  });

  test(`the responses API sees a refused call as a message, ${how}`, { skip }, async () => {
    const client = new OpenAI({ baseURL: `${refusing}/v1`, apiKey: "x", maxRetries: 0 });
    const asked = (model) => {
      const ask = { model, input: "Which road?" };
      return stream ? client.responses.stream(ask).finalResponse() : client.responses.create(ask);
    };
    let response = await asked("calls");
    const kinds = ["function_call", "function_call", "message", "function_call"];
    assert.deepEqual(response.output.map((item) => item.type), kinds);
    assert.match(response.output[2].content[0].text, refusal("ls"));
    response = await asked("calls-loop");
    assert.deepEqual(response.output.map((item) => item.type), ["message"]);
    assert.match(response.output[0].content[0].text, refusal("write"));
  });

  test(`anthropic sees a refused call as a block of text, ${how}`, { skip }, async () => {
    const client = new Anthropic({ baseURL: refusing, apiKey: "x", maxRetries: 0 });
    const asked = (model) => {
      const ask = { model, messages, max_tokens: 99 };
      return stream ? client.messages.stream(ask).finalMessage() : client.messages.create(ask);
    };
    let message = await asked("calls");
    assert.deepEqual(message.content.map((block) => block.type), ["tool_use", "tool_use", "text", "tool_use"]);
    assert.match(message.content[2].text, refusal("ls"));
    assert.equal(message.stop_reason, "tool_use");
    message = await asked("calls-loop");
    assert.deepEqual(message.content.map((block) => block.type), ["text"]);
    assert.match(message.content[0].text, refusal("write"));
    assert.equal(message.stop_reason, "end_turn");
  });
}
