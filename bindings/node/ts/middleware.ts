/** `loopMiddleware`: a language model of Vercel's AI SDK through a guard. */
import type { Alarm, Decision } from "./alarm.js";
import { Writer } from "./json.js";
import { checked, guardsOf, hear, type Options, RESPONSE, see, tell } from "./options.js";

/** A part of a model's stream, as far as it matters here. */
interface Part {
  readonly type: string;
  readonly id?: string;
}

interface Streamed {
  readonly stream: ReadableStream<unknown>;
}

/**
 * `wrapLanguageModel({ model, middleware: loopMiddleware() })`. At an alarm the request is cancelled; the stream
 * fails with the `LoopError`, or ends with the finish reason `length`.
 */
export function loopMiddleware(options: Options = {}) {
  const guards = guardsOf(options);
  checked(options.onAlarm);
  see(guards, RESPONSE.filter((feed) => feed !== "silence"), "a model of the AI SDK", options);
  const wrapStream = async <S extends Streamed>(asked: {
    doStream: () => PromiseLike<S>;
    model: { readonly modelId: string };
  }): Promise<S> => {
    const result = await asked.doStream();
    const guard = guards.chunks(options.model ?? asked.model.modelId);
    const writer = new Writer();
    const hears = (decisions: readonly Decision[]): Alarm | null => {
      for (const decision of decisions) {
        const alarm = hear(decision, options);
        if (alarm !== null) return alarm;
      }
      return null;
    };
    const sees = (part: unknown): Alarm | null => {
      const json = writer.json(part);
      return json === null ? null : hears(guard.feed(json));
    };
    const open = new Map<string, string>();
    const transform = (part: unknown, out: TransformStreamDefaultController<unknown>): void => {
      const alarm = sees(part);
      note(part as Part, open);
      if (alarm !== null) tell(alarm, options.onAlarm);
      out.enqueue(part);
      if (alarm === null) return;
      close(out);
      out.terminate();
    };
    const close = (out: TransformStreamDefaultController<unknown>): void => {
      for (const [id, kind] of open) out.enqueue({ type: `${kind}-end`, id });
      out.enqueue(finish());
    };
    // What was held back until the end is judged there.
    const flush = (out: TransformStreamDefaultController<unknown>): void => {
      const alarm = hears(guard.end());
      if (alarm === null) return;
      tell(alarm, options.onAlarm);
      close(out);
    };
    const stream = result.stream.pipeThrough(new TransformStream({ transform, flush }));
    return { ...result, stream };
  };
  return { specificationVersion: "v3" as const, wrapStream };
}

/** Which blocks have begun and not ended. */
function note(part: Part, open: Map<string, string>): void {
  const [, kind, what] = /^(text|reasoning|tool-input)-(start|end)$/.exec(part.type) ?? [];
  if (part.id === undefined || kind === undefined) return;
  if (what === "start") open.set(part.id, kind);
  else open.delete(part.id);
}

/** The last part of a stream that is cut. How many tokens it was is not known. */
function finish(): unknown {
  const inputTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const outputTokens = { total: undefined, text: undefined, reasoning: undefined };
  return {
    type: "finish",
    finishReason: { unified: "length", raw: undefined },
    usage: { inputTokens, outputTokens },
  };
}
