/** `DeadLoopDetector`: for programs that keep the text of the thinking and ask about all of it after each chunk. */
import type { Alarm } from "./alarm.js";
import type { Channel, Guard } from "./guard.js";
import { guardsOf, hear, type Options, see } from "./options.js";

/** What `detect` says. */
export interface Detection {
  /** Whether the text is in a dead loop. */
  readonly detected: boolean;
  /** What kind of loop it is. */
  readonly type?: string;
  /** All that is known of it, in one line. */
  readonly details?: string;
  readonly alarm?: Alarm;
}

/**
 * Asked about the whole text so far after each chunk (`detect`), and told when a new request begins (`reset`). It
 * reads only what is new, and keeps no text.
 */
export class DeadLoopDetector {
  readonly #first: Guard;
  readonly #channel: Channel;
  readonly #options: Options;
  #guard: Guard;
  #read = 0;

  constructor(options: Omit<Options, "onAlarm"> & { readonly channel?: Channel } = {}) {
    const guards = guardsOf(options);
    this.#channel = options.channel ?? "reasoning";
    see(guards, [this.#channel], "a text that is asked about", options);
    this.#first = guards.guard(options.model ?? "");
    this.#guard = this.#first;
    this.#options = options;
  }

  /** Whether `text`, all of it so far, is in a dead loop; it stays so until `reset`. A shorter text is a new one. */
  detect(text: string): Detection {
    if (text.length < this.#read) this.reset();
    const alarm = this.#guard.alarm ?? hear(this.#guard.push(text.slice(this.#read), this.#channel), this.#options);
    this.#read = text.length;
    if (alarm === null) return { detected: false };
    return { detected: true, type: alarm.kind, details: alarm.logLine, alarm };
  }

  /** A new request begins. */
  reset(): void {
    this.#guard = this.#first.fresh();
    this.#read = 0;
  }
}
