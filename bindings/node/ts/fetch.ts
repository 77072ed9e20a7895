/** `guardedFetch`: every streamed response of a client through a guard, without a change of its calls. */
import type { Live } from "./guard.js";
import { guardsOf, type Options, tell, warn } from "./options.js";

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
  return async (input, init) => {
    const response = await inner(input, init);
    const kind = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (!response.ok || response.body === null || !STREAMS.includes(kind)) return response;
    const live = guards.live(options.model ?? named(init?.body));
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    // What comes out has neither the length nor the packing of what came in.
    headers.delete("content-length");
    headers.delete("content-encoding");
    const body = through(response.body, live, options);
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
function through(body: ReadableStream<Uint8Array>, live: Live, options: Options): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let over = false;
  const pull = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const alarm = over ? live.alarm : null;
    if (alarm !== null) {
      tell(alarm, options.onAlarm);
      if (live.ending.length > 0) out.enqueue(live.ending);
      out.close();
      return;
    }
    const { done, value } = await reader.read();
    if (done) {
      out.close();
      return;
    }
    const passed = live.feed(value);
    warn(live, options.onWarning);
    over = live.alarm !== null;
    if (over) await reader.cancel();
    out.enqueue(passed);
  };
  const cancel = (reason: unknown): Promise<void> => reader.cancel(reason);
  // One pull, one chunk: an error must not overtake what was passed before it.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
