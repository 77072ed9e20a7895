/** `watch`: the stream of a client through a guard. */
import type { Alarm, Decision } from "./alarm.js";
import { SILENT, ticking } from "./clock.js";
import type { Channel, Chunks, Guard } from "./guard.js";
import { last, Writer } from "./json.js";
import { checked, guardsOf, hear, type Options, RESPONSE, see, tell } from "./options.js";

/** Which of several answers, the channel, the text. */
export type Text = readonly [key: unknown, channel: Channel, text: string];

export interface WatchOptions<T> extends Options {
  /** What is new in a chunk, for chunks that deadloop does not know. */
  readonly texts?: (chunk: T) => Iterable<Text>;
}

/** What watches a stream: for each of its answers a guard, and a clock. */
class Judge<T> {
  alarm: Alarm | null = null;
  readonly listens: boolean;
  readonly #options: WatchOptions<T>;
  readonly #chunks: Chunks;
  readonly #first: Guard;
  readonly #guards = new Map<unknown, Guard>();
  readonly #writer = new Writer();
  #heard = Date.now();

  constructor(options: WatchOptions<T>) {
    checked(options.onAlarm);
    const guards = guardsOf(options);
    const feeds = options.texts === undefined ? RESPONSE : ["reasoning", "answer", "arguments", "silence"];
    see(guards, feeds, "a stream that is watched", options);
    this.listens = guards.reads("silence", options.model ?? "");
    this.#options = options;
    this.#chunks = guards.chunks(options.model || undefined);
    this.#first = guards.guard(options.model ?? "");
  }

  /** Whether the stream ends with this chunk. */
  sees(chunk: T): boolean {
    this.#heard = Date.now();
    if (this.#options.texts !== undefined) {
      for (const [key, channel, text] of this.#options.texts(chunk)) {
        if (this.#hears([this.#guard(key).push(text, channel)])) return true;
      }
      return false;
    }
    if (typeof chunk === "string") return this.#hears(this.#chunks.text(chunk));
    const json = this.#writer.json(chunk);
    return json !== null && this.#hears(this.#chunks.feed(json));
  }

  /** Whether the stream ends because nothing has come for so long. */
  silence(): boolean {
    const silent = Date.now() - this.#heard;
    if (!this.listens || silent < SILENT) return false;
    const seconds = silent / 1000;
    if (this.#options.texts === undefined) return this.#hears(this.#chunks.silence(seconds));
    return this.#hears([...this.#guards.values()].map((guard) => guard.silence(seconds)));
  }

  /** The stream has ended: whether what was held back until then raises an alarm. */
  over(): boolean {
    return this.#options.texts === undefined && this.#hears(this.#chunks.end());
  }

  #guard(key: unknown): Guard {
    let guard = this.#guards.get(key);
    if (guard === undefined) {
      guard = this.#first.fresh();
      this.#guards.set(key, guard);
    }
    return guard;
  }

  #hears(decisions: readonly Decision[]): boolean {
    for (const decision of decisions) this.alarm ??= hear(decision, this.#options);
    return this.alarm !== null;
  }
}

/** A stream that ends at a dead loop. `alarm` says why, also where an error was renamed on its way. */
export class Watch<T> implements AsyncIterable<T> {
  readonly #stream: AsyncIterable<T> | Iterable<T>;
  readonly #judge: Judge<T>;
  readonly #options: WatchOptions<T>;

  constructor(stream: AsyncIterable<T> | Iterable<T>, options: WatchOptions<T> = {}) {
    this.#stream = stream;
    this.#options = options;
    this.#judge = new Judge(options);
  }

  /** Why the stream was ended, if it was. */
  get alarm(): Alarm | null {
    return this.#judge.alarm;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const judge = this.#judge;
    const source = this.#stream;
    const chunks = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let over = false;
    let silent = false;
    let chunk: T | undefined;
    let end: T[] = [];
    try {
      for (;;) {
        const next = await this.#next(chunks).catch((error) => {
          over = true;
          throw error;
        });
        silent = next === null;
        if (next === null) break;
        if (next.done) {
          over = true;
          if (judge.over()) break;
          return;
        }
        chunk = next.value;
        if (judge.silence()) break;
        if (judge.sees(chunk)) {
          end = [chunk];
          break;
        }
        yield chunk;
      }
    } finally {
      if (!over) await this.#close(chunks, silent);
    }
    if (judge.alarm === null) return;
    tell(judge.alarm, this.#options.onAlarm);
    const ended = last(chunk) as T | null;
    yield* ended === null ? end : [...end, ended];
  }

  /** The next chunk; null where the stream ends in silence. */
  async #next(chunks: AsyncIterator<T> | Iterator<T>): Promise<IteratorResult<T> | null> {
    if (!this.#judge.listens) return chunks.next();
    return ticking(Promise.resolve(chunks.next()), () => this.#judge.silence());
  }

  /** Ends the stream of the client, and so its connection. At an alarm an error of the client must not hide it. */
  async #close(chunks: AsyncIterator<T> | Iterator<T>, silent: boolean): Promise<void> {
    try {
      if (silent) {
        // Who waits for a chunk cannot be asked to end before it has come: the request is given up.
        const { controller } = this.#stream as { controller?: { abort?: () => void } };
        controller?.abort?.();
        Promise.resolve(chunks.return?.()).catch(() => {});
      } else {
        await chunks.return?.();
      }
    } catch (error) {
      if (this.#judge.alarm === null) throw error;
    }
  }
}

/**
 * The stream of a client, chunk by chunk, as it comes, until the model goes in circles. Then the connection is
 * closed, and `onAlarm` decides what comes. A refusal ends nothing: who runs the call has to leave it.
 */
export function watch<T>(stream: AsyncIterable<T> | Iterable<T>, options: WatchOptions<T> = {}): Watch<T> {
  return new Watch(stream, options);
}
