/** `guardedFetch`: every streamed response of a client through a guard, without a change of its calls. */
import type { Alarm } from "./alarm.js";
import { SILENT, ticking } from "./clock.js";
import type { Live } from "./guard.js";
import { checked, guardsOf, type Options, RESPONSE, see, tell } from "./options.js";

/** Content types of responses that come event by event. */
const STREAMS = ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl"];

/**
 * A `fetch` whose streamed responses are watched: `new OpenAI({ fetch: guardedFetch() })`. `model`: whose guard
 * watches; else the one that the request names. `fetch`: the one underneath. With `onAlarm: "stop"` a response
 * ends as its API ends one that was too long.
 */
export function guardedFetch(options: Options & { readonly fetch?: typeof fetch } = {}): typeof fetch {
  const inner = options.fetch ?? globalThis.fetch;
  const guards = guardsOf(options);
  checked(options.onAlarm);
  see(guards, RESPONSE, "a response over HTTP", options);
  return async (input, init) => {
    const response = await inner(input, init);
    const kind = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (!response.ok || response.body === null || !STREAMS.includes(kind)) return response;
    const model = options.model ?? named(init?.body);
    const live = guards.live(model);
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    // What comes out has neither the length nor the packing of what came in.
    headers.delete("content-length");
    headers.delete("content-encoding");
    const body = through(response.body, live, options, guards.reads("silence", model ?? ""));
    const guarded = new Response(body, { status, statusText, headers });
    Object.defineProperty(guarded, "url", { value: response.url });
    return guarded;
  };
}

/** The model that the body of a request names. */
function named(body: unknown): string | undefined {
  if (typeof body !== "string") return undefined;
  try {
    const model: unknown = JSON.parse(body)?.model;
    return typeof model === "string" && model !== "" ? model : undefined;
  } catch {
    return undefined; // then the response says it
  }
}

/** The bytes of a response through its guard. */
function through(
  body: ReadableStream<Uint8Array>,
  live: Live,
  options: Options,
  listens: boolean,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let heard = Date.now();
  const silence = (): boolean => {
    const silent = Date.now() - heard;
    if (listens && silent >= SILENT) live.silence(silent / 1000);
    return live.alarm !== null;
  };
  const told = (): void => {
    live.warnings().forEach((warning) => options.onWarning?.(warning));
    live.refusals().forEach((refusal) => (options.onRefuse ?? options.onWarning)?.(refusal));
  };
  const pull = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const alarm = live.alarm;
    if (alarm !== null) return end(out, alarm, live, options);
    const next = await (listens ? ticking(reader.read(), silence) : reader.read());
    if (next?.done) {
      live.end();
      told();
      const last = live.alarm;
      return last === null ? out.close() : end(out, last, live, options);
    }
    const passed = next === null || silence() ? new Uint8Array() : live.feed(next.value);
    heard = Date.now();
    told();
    // What a connection says when it is closed must not hide the alarm.
    const found = live.alarm;
    if (found !== null) await reader.cancel().catch(() => {});
    if (passed.length > 0) out.enqueue(passed);
    else if (found !== null) end(out, found, live, options);
    else return pull(out);
  };
  const cancel = (reason: unknown): Promise<void> => reader.cancel(reason);
  // One pull, one chunk: an error must not overtake what was passed before it.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** Ends a response at its alarm. */
function end(out: ReadableStreamDefaultController<Uint8Array>, alarm: Alarm, live: Live, options: Options): void {
  tell(alarm, options.onAlarm);
  if (live.ending.length > 0) out.enqueue(live.ending);
  out.close();
}
