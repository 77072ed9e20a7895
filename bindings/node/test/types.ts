// The types, as a program in TypeScript meets them: `npm run check`.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText, wrapLanguageModel } from "ai";
import OpenAI from "openai";
import {
  type Alarm,
  type Decision,
  DeadLoopDetector,
  type Detection,
  Guards,
  guardedClient,
  guardedFetch,
  guardedTools,
  LoopError,
  loopMiddleware,
  Run,
  watch,
} from "../dist/index.js";

const guards: Guards = Guards.parse('[[guard]]\ndetector = "periodic"', "here.toml");
const decision: Decision = guards.guard("m").push("text", "reasoning");
const alarm: Alarm | null = decision.alarm;
// @ts-expect-error: no such channel
guards.guard().push("text", "thought");
// @ts-expect-error: text on tools is none
guards.guard().push("text", "tools");
// @ts-expect-error: guards are made by their own functions
new Guards();

export async function everyClient(): Promise<string> {
  const client = new OpenAI({ fetch: guardedFetch({ guards, onAlarm: (a: Alarm) => console.warn(a.logLine) }) });
  const stream = await client.chat.completions.create({ model: "m", messages: [], stream: true });
  let said = "";
  try {
    for await (const chunk of watch(stream, { guards, onAlarm: "stop" })) said += chunk.choices[0]?.delta.content ?? "";
  } catch (error) {
    if (error instanceof LoopError) said += error.alarm.userMessage;
  }
  const provider = createOpenAICompatible({ name: "x", baseURL: "http://127.0.0.1" });
  const model = wrapLanguageModel({ model: provider("m"), middleware: loopMiddleware({ guards }) });
  const found: Detection = new DeadLoopDetector({ guards, channel: "answer" }).detect(said);
  return (await streamText({ model, prompt: "x" }).text) + (found.type ?? "") + (alarm?.deliveredUtf16 ?? 0);
}
