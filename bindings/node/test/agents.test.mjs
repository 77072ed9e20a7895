// The loops of agents: Vercel's AI SDK against the fake server, whose model `polls` makes one call on and on, and MCP.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { guardedClient, guardedTools, Guards, LoopError, Run } from "deadloop";
import { z } from "zod";
import { start } from "./server.mjs";

let server;
before(async () => {
  server = await start();
});
after(() => server.close());

const REFUSES = '[[guard]]\ndetector = "duplicate"\nresponse = "refuse"\n[guard.params]\nn = 3\n';
const STEPS = `${REFUSES}[[guard]]\ndetector = "iterations"\n[guard.params]\nlimit = 6\n`;
const loops = (error) => error instanceof LoopError && error.alarm.kind === "same-call-same-result";

/** A tool that counts its calls. */
function counted() {
  const calls = [];
  const execute = async (input) => {
    calls.push(input);
    return { status: "checking", step: 2 };
  };
  const inputSchema = z.object({ request: z.object({ method: z.string(), url: z.string() }) });
  return { calls, tools: { execute: tool({ description: "sends a request", inputSchema, execute }) } };
}

const provider = () => createOpenAICompatible({ name: "x", baseURL: `${server.url}/v1`, apiKey: "x" });
const ask = (model, run, tools) => ({
  model: wrapLanguageModel({ model: provider()(model), middleware: run.middleware() }),
  prompt: "Wait for the plan to be committed.",
  tools: guardedTools(tools, run),
  stopWhen: stepCountIs(20),
  maxRetries: 0,
});

test("the AI SDK: a loop of calls is stopped, and the model is not asked again", async () => {
  const run = new Run();
  const { calls, tools } = counted();
  const { requests } = await server.last();
  await assert.rejects(generateText(ask("polls", run, tools)), loops);
  assert.deepEqual([calls.length, run.alarm.calls], [3, 3]);
  assert.equal((await server.last()).requests, requests + 3);
});

test("the AI SDK: its own way to end", async () => {
  const run = new Run();
  const { calls, tools } = counted();
  const result = await generateText({
    model: provider()("polls"),
    prompt: "Wait.",
    tools: guardedTools(tools, run),
    stopWhen: [stepCountIs(20), run.stopWhen],
  });
  assert.deepEqual([calls.length, result.steps.length, run.alarm.kind], [3, 3, "same-call-same-result"]);
});

test("the AI SDK: a refused call gives the model a result that says so", async () => {
  const told = [];
  const run = new Run({ guards: Guards.parse(STEPS), onRefuse: (alarm) => told.push(alarm) });
  const { calls, tools } = counted();
  await assert.rejects(generateText(ask("polls", run, tools)), LoopError);
  assert.equal(calls.length, 2);
  assert.ok(told.length >= 3);
  const other = new Run({ guards: Guards.parse(REFUSES) });
  const result = await generateText({ ...ask("polls", other, counted().tools), stopWhen: stepCountIs(4) });
  const outputs = result.steps.flatMap((step) => step.toolResults.map(({ output }) => output));
  assert.deepEqual(outputs.slice(0, 2), [{ status: "checking", step: 2 }, { status: "checking", step: 2 }]);
  assert.match(outputs[2], /^This call was not run: the model was making the same tool call/);
});

test("the AI SDK: a healthy loop ends by itself", async () => {
  const { calls, tools } = counted();
  const result = await generateText(ask("works", new Run(), tools));
  assert.deepEqual([result.text, calls.length], ["It is done.", 4]);
});

test("the AI SDK: what a model says in a stream is a part of its run", async (t) => {
  const run = new Run();
  await assert.rejects(async () => {
    for await (const _ of streamText({ ...ask("loop-answer", run, counted().tools) }).fullStream);
  }, (error) => error instanceof LoopError && error.alarm.channel === "answer");
  await server.stopped(t);
});

test("tools that fail, that have no function, and that give several values", async () => {
  const run = new Run({ guards: Guards.parse('[[guard]]\ndetector = "error-run"\n[guard.params]\nn = 3') });
  const tools = guardedTools(
    {
      fails: { execute: () => Promise.reject(new Error("no connection")) },
      none: { description: "runs elsewhere" },
      several: {
        async *execute() {
          yield "one";
          yield "two";
        },
      },
    },
    run,
  );
  assert.equal(tools.none.execute, undefined);
  assert.equal(await tools.several.execute({}, {}), "two");
  for (let i = 0; i < 2; i++) await assert.rejects(tools.fails.execute({ i }, {}), /no connection/);
  await assert.rejects(tools.fails.execute({}, {}), LoopError);
  await assert.rejects(tools.several.execute({}, {}), LoopError, "and it stays so");
  assert.throws(() => run.check(), LoopError);
});

test("a client of MCP", async () => {
  const calls = [];
  const mcp = new McpServer({ name: "tools", version: "1" });
  mcp.registerTool("execute", { inputSchema: { url: z.string() } }, async (input) => {
    calls.push(input);
    return { content: [{ type: "text", text: "checking step 2 of 9" }] };
  });
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "agent", version: "1" });
  await Promise.all([client.connect(here), mcp.connect(there)]);
  const asked = { name: "execute", arguments: { url: "/v3/plans/7/confirm" } };
  const tools = guardedClient(client, new Run());
  assert.equal((await tools.listTools()).tools.length, 1);
  await assert.rejects(async () => {
    for (let i = 0; i < 20; i++) await tools.callTool(asked);
  }, loops);
  assert.equal(calls.length, 3);
  calls.length = 0;
  const refused = guardedClient(client, new Run({ guards: Guards.parse(REFUSES) }));
  const results = [];
  for (let i = 0; i < 4; i++) results.push(await refused.callTool(asked));
  assert.deepEqual([results.map((result) => result.isError ?? false), calls.length], [[false, false, true, true], 2]);
  assert.match(results[2].content[0].text, /^This call was not run/);
  await client.close();
});
