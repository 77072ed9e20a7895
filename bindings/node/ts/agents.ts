/** `Run`: a run of an agent under its guard; `guardedTools` of Vercel's AI SDK; `guardedClient` of MCP. */
import { type Alarm, type Decision, LoopError } from "./alarm.js";
import { type Channel, type Guard, type Guards, written } from "./guard.js";
import { guardsOf, hear, type Listeners, see } from "./options.js";

/** What a loop of an agent brings: no clock, and no handoffs. */
const FEEDS = ["reasoning", "answer", "arguments", "calls", "results", "messages of users", "turns", "ends"];

export interface RunOptions extends Listeners {
  /** Whose guards watch; `recommended-agents` where none are given. */
  readonly guards?: Guards;
  /** The model, for settings that have guards for some. */
  readonly model?: string;
  /** Whether settings with a guard that sees nothing here throw; else a warning on the console names it, once. */
  readonly strict?: boolean;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;

/**
 * A run of an agent under its guard: tell it what happens, in the order in which it happens. Each method throws a `LoopError`
 * where the guard stops the run, and again at each later one: some frameworks catch what a tool throws. One for each run.
 */
export class Run {
  readonly guard: Guard;
  readonly #options: RunOptions;
  #calls = 0;

  constructor(options: RunOptions = {}) {
    if (options.guards !== undefined) see(options.guards, FEEDS, "the run of an agent", options);
    this.guard = guardsOf(options, "recommended-agents").guard(options.model ?? "");
    this.#options = options;
  }

  /** Why the run was stopped, if it was. */
  get alarm(): Alarm | null {
    return this.guard.alarm;
  }

  /** `generateText({ stopWhen: [stepCountIs(20), run.stopWhen] })`: ends a loop of the AI SDK after the step that was stopped. */
  readonly stopWhen = (): boolean => this.alarm !== null;

  /** Throws a `LoopError` if the run was stopped. */
  check(): void {
    const alarm = this.alarm;
    if (alarm !== null) throw new LoopError(alarm);
  }

  /** A message of the user. The first is the task. */
  user(text: string): void {
    this.#tell(this.guard.user(text));
  }

  /** The model is asked; `agent`: whose turn it is, where there are several. */
  turn(agent?: string): void {
    this.#tell(this.guard.turn(agent));
  }

  /** The model says something, or thinks it. */
  says(text: string, channel: Channel = "answer"): void {
    this.#tell(this.guard.push(text, channel));
  }

  /** An agent chose the next one. */
  handoff(from: string, to: string): void {
    this.#tell(this.guard.handoff(from, to));
  }

  /**
   * The model calls a tool, which has not run yet. Null: run it. A text: do not run it, this is its result for the model, and
   * the guard has been told of it.
   */
  call(name: string, args: unknown = "", id?: string): string | null {
    const decision = this.guard.call(name, args, id);
    this.#tell(decision);
    if (decision.action !== "refuse" || decision.alarm === null) return null;
    this.result(id, decision.alarm.refusal, true);
    return decision.alarm.refusal;
  }

  /** What a call brought. `error`: whether it failed. */
  result(id: string | undefined, content: unknown, error?: boolean): void {
    this.#tell(this.guard.result(id, written(content), error));
  }

  /** The run is over. `reason`: why, in the words of the model's API. */
  finish(reason?: string): void {
    this.#tell(this.guard.finish(reason));
  }

  /** Runs a call under the guard: what `execute` gives, or the text that refuses it. */
  async run<T>(name: string, args: unknown, execute: () => T | PromiseLike<T>, id = this.#id()): Promise<T | string> {
    const refusal = this.call(name, args, id);
    if (refusal !== null) return refusal;
    let content: T;
    try {
      content = await execute();
    } catch (error) {
      if (!(error instanceof LoopError)) this.result(id, String(error), true);
      throw error;
    }
    this.result(id, content);
    return content;
  }

  /**
   * `wrapLanguageModel({ model, middleware: run.middleware() })`: tells of each turn and of what the model says. Once the run
   * was stopped, the model is not asked again: the loop fails with the `LoopError`. Its calls are told of by `guardedTools`.
   */
  middleware() {
    const wrapGenerate = async <G extends { readonly content: readonly Any[] }>(asked: {
      doGenerate: () => PromiseLike<G>;
    }): Promise<G> => {
      this.turn();
      const result = await asked.doGenerate();
      for (const { type, text } of result.content) {
        if (type === "text" || type === "reasoning") this.says(text, type === "text" ? "answer" : "reasoning");
      }
      return result;
    };
    const wrapStream = async <S extends { readonly stream: ReadableStream<Any> }>(asked: {
      doStream: () => PromiseLike<S>;
    }): Promise<S> => {
      this.turn();
      const result = await asked.doStream();
      const transform = (part: Any, out: TransformStreamDefaultController<Any>): void => {
        if (part.type === "text-delta") this.says(part.delta);
        if (part.type === "reasoning-delta") this.says(part.delta, "reasoning");
        out.enqueue(part);
      };
      return { ...result, stream: result.stream.pipeThrough(new TransformStream({ transform })) };
    };
    return { specificationVersion: "v3" as const, wrapGenerate, wrapStream };
  }

  #id(): string {
    this.#calls += 1;
    return `call-${this.#calls}`;
  }

  #tell(decision: Decision): void {
    const alarm = hear(decision, this.#options);
    if (alarm !== null) throw new LoopError(alarm);
  }
}

/**
 * The tools of Vercel's AI SDK under the guard of a run: `generateText({ tools: guardedTools(tools, run), ... })`. The SDK gives
 * the model what a tool throws; `run.middleware()` or `run.stopWhen` ends the loop.
 */
export function guardedTools<T extends Readonly<Record<string, Any>>>(tools: T, run: Run): T {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    if (typeof tool.execute !== "function") return [name, tool];
    const execute = (input: unknown, options: Any) =>
      run.run(name, input, async () => finished(await tool.execute(input, options)), options?.toolCallId);
    return [name, { ...tool, execute }];
  });
  return Object.fromEntries(guarded) as T;
}

/** What a tool gives in the end, where it gives several values one after the other. */
async function finished(given: Any): Promise<unknown> {
  if (typeof given?.[Symbol.asyncIterator] !== "function") return given;
  let final: unknown;
  for await (const value of given) final = value;
  return final;
}

/** A client of MCP whose `callTool` is under the guard of a run. A refusal is a result with an error. */
export function guardedClient<C extends { callTool: (...args: Any[]) => Promise<Any> }>(client: C, run: Run): C {
  let calls = 0;
  const callTool = async (asked: { name: string; arguments?: unknown }, ...rest: unknown[]): Promise<Any> => {
    calls += 1;
    const id = `mcp-${calls}`;
    const refusal = run.call(asked.name, asked.arguments ?? {}, id);
    if (refusal !== null) return { content: [{ type: "text", text: refusal }], isError: true };
    let result: Any;
    try {
      result = await client.callTool(asked, ...rest);
    } catch (error) {
      run.result(id, String(error), true);
      throw error;
    }
    const said = (result.content ?? []).map((part: Any) => (part.type === "text" ? part.text : JSON.stringify(part)));
    run.result(id, said.join("\n"), result.isError === true);
    return result;
  };
  const get = (target: Any, name: string | symbol): unknown => {
    if (name === "callTool") return callTool;
    const value = target[name];
    return typeof value === "function" ? value.bind(target) : value;
  };
  return new Proxy(client, { get });
}
