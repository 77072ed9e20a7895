// The examples of docs/node.md, as they stand there, in one module.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { start } from "./server.mjs";

let server;
before(async () => {
  server = await start();
});
after(() => server.close());

test("the examples run", async () => {
  const page = readFileSync(new URL("../../../docs/node.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  assert.equal(examples.length, 6);
  process.env.OPENAI_BASE_URL = `${server.url}/v1`;
  process.env.OPENAI_API_KEY = "x";
  // Beside the tests, so that it finds the packages that they find.
  const module = new URL(`docs.${process.pid}.run.mjs`, import.meta.url);
  writeFileSync(module, examples.join("\n"));
  try {
    await import(module);
  } finally {
    rmSync(module);
  }
});
