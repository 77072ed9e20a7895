/** `watch`: the stream of a client through a guard. */
import type { Alarm } from "./alarm.js";
import { last, texts, type Text } from "./chunks.js";
import type { Guard } from "./guard.js";
import { guardsOf, type OnAlarm, type Options, tell, warn } from "./options.js";

export interface WatchOptions<T> extends Options {
  /** What is new in a chunk, for chunks that deadloop does not know. */
  readonly texts?: (chunk: T) => Iterable<Text>;
}

/** A stream that ends at a dead loop. `alarm` says why, also where an error was renamed on its way. */
export class Watch<T> implements AsyncIterable<T> {
  readonly #stream: AsyncIterable<T> | Iterable<T>;
  readonly #first: Guard;
  readonly #guards = new Map<unknown, Guard>();
  readonly #texts: (chunk: T) => Iterable<Text>;
  readonly #onAlarm: OnAlarm;
  readonly #onWarning: Options["onWarning"];
  #alarm: Alarm | null = null;

  constructor(stream: AsyncIterable<T> | Iterable<T>, options: WatchOptions<T> = {}) {
    this.#stream = stream;
    this.#first = guardsOf(options).guard(options.model ?? "");
    this.#texts = options.texts ?? texts;
    this.#onAlarm = options.onAlarm ?? "throw";
    this.#onWarning = options.onWarning;
  }

  /** Why the stream was ended, if it was. */
  get alarm(): Alarm | null {
    return this.#alarm;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let end: T[] = [];
    // Leaving the loop ends the stream of the client, and so its connection.
    for await (const chunk of this.#stream) {
      if (this.#sees(chunk)) {
        const ended = last(chunk) as T | null;
        end = ended === null ? [chunk] : [chunk, ended];
        break;
      }
      yield chunk;
    }
    if (this.#alarm === null) return;
    tell(this.#alarm, this.#onAlarm);
    yield* end;
  }

  /** Whether the stream ends with this chunk. */
  #sees(chunk: T): boolean {
    for (const [key, channel, text] of this.#texts(chunk)) {
      let guard = this.#guards.get(key);
      if (guard === undefined) {
        guard = this.#first.fresh();
        this.#guards.set(key, guard);
      }
      const alarm = guard.push(channel, text);
      warn(guard, this.#onWarning);
      if (alarm !== null) {
        this.#alarm = alarm;
        return true;
      }
    }
    return false;
  }
}

/**
 * The stream of a client, chunk by chunk, as it comes, until the model goes in circles. Then the connection is
 * closed, and `onAlarm` decides what comes.
 */
export function watch<T>(stream: AsyncIterable<T> | Iterable<T>, options: WatchOptions<T> = {}): Watch<T> {
  return new Watch(stream, options);
}
