/** `Guards`: a settings file, compiled once. `Guard`: one stream. `Live`: the bytes of one response. */
import { type Alarm, read } from "./alarm.js";
import { native, type NativeGuard, type NativeGuards, type NativeLive } from "./native.js";

/** A channel of text. */
export type Channel = "reasoning" | "answer" | "arguments";

const CHANNELS: readonly string[] = ["reasoning", "answer", "arguments"];

/** The guards of a settings file. One for the whole program. */
export class Guards {
  readonly #native: NativeGuards;

  private constructor(made: NativeGuards) {
    this.#native = made;
  }

  /** The guard that deadloop recommends, on every model. */
  static recommended(): Guards {
    return new Guards(native.Guards.recommended());
  }

  /** The guards of a settings file, as `deadloop tune` writes it. Throws where it is none, with line and column. */
  static load(path: string): Guards {
    return new Guards(native.Guards.load(path));
  }

  /** The guards of the settings in a text; `name` is what errors call it. */
  static parse(toml: string, name = "settings"): Guards {
    return new Guards(native.Guards.parse(toml, name));
  }

  /** The name of the settings in every report. */
  get id(): string {
    return this.#native.id;
  }

  /** A fresh guard for a request to this model. */
  guard(model = ""): Guard {
    return new Guard(this.#native.guard(model));
  }

  /** A fresh guard for the bytes of a streamed response; without a model the name that it gives. */
  live(model?: string): Live {
    return new Live(this.#native.live(model));
  }
}

/** The guard of one stream, from its first chunk to its end or its alarm. Made by `Guards`. */
export class Guard {
  readonly #native: NativeGuard;
  #alarm: Alarm | null = null;

  constructor(made: NativeGuard) {
    this.#native = made;
  }

  /**
   * Takes the next chunk. Gives the alarm once; from then on null: the stream is over. A chunk may end inside a
   * surrogate pair: the first half is held back until the second has come.
   */
  push(channel: Channel, text: string): Alarm | null {
    const at = CHANNELS.indexOf(channel);
    if (at < 0) {
      throw new RangeError(`no channel of text is called ${JSON.stringify(channel)}; there is: ${CHANNELS.join(", ")}`);
    }
    const json = this.#native.push(at, text);
    if (json === null) return null;
    this.#alarm = this.#counted(read(json));
    return this.#alarm;
  }

  /** Takes the alarms that only warn or observe and were not asked for yet: of each guard of the list the first. */
  warnings(): Alarm[] {
    return this.#native.warnings().map((json) => this.#counted(read(json)));
  }

  /** Its positions in units of UTF-16 too, where they are of text. */
  #counted(alarm: Alarm): Alarm {
    const at = CHANNELS.indexOf(alarm.channel);
    if (at < 0) return alarm;
    const units = (chars: number): number => this.#native.units(at, chars);
    return {
      ...alarm,
      exactUtf16: units(alarm.exact),
      deliveredUtf16: units(alarm.delivered),
      onsetUtf16: units(alarm.onset),
    };
  }

  /** Whether it has alarmed. */
  get fired(): boolean {
    return this.#native.fired;
  }

  /** Its alarm, for who did not get it from `push`. */
  get alarm(): Alarm | null {
    return this.#alarm;
  }

  /** A guard for the next request, which knows nothing of what this one has read. */
  fresh(): Guard {
    return new Guard(this.#native.fresh());
  }
}

/** A guard on the bytes of one streamed response: server-sent events or JSON lines. Made by `Guards`. */
export class Live {
  readonly #native: NativeLive;

  constructor(made: NativeLive) {
    this.#native = made;
  }

  /** Takes the next bytes; gives those that may be passed on: after the alarm none. */
  feed(chunk: Uint8Array): Uint8Array {
    return chunk.subarray(0, this.#native.feed(chunk));
  }

  /** The response is over: what was held back is judged too. */
  end(): void {
    this.#native.end();
  }

  /** Takes the alarms that only warn or observe and were not asked for yet. */
  warnings(): Alarm[] {
    return this.#native.warnings().map(read);
  }

  /** Why the response has to be cut, once it has. */
  get alarm(): Alarm | null {
    const json = this.#native.alarm;
    return json === null ? null : read(json);
  }

  /** What ends a response that is cut here, in the words of its API; empty where that is not known. */
  get ending(): Uint8Array {
    return this.#native.ending;
  }
}
