/** `Guards`: a settings file, compiled once. `Guard`: one stream or run. `Live`, `Chunks`: one response. */
import { type Alarm, type Decision, decision, read } from "./alarm.js";
import { native, type NativeChunks, type NativeGuard, type NativeGuards, type NativeLive } from "./native.js";

/** A channel of text. */
export type Channel = "reasoning" | "answer" | "arguments";

const CHANNELS: readonly string[] = ["reasoning", "answer", "arguments"];

/** The guards of a settings file. One for the whole program. */
export class Guards {
  readonly #native: NativeGuards;

  private constructor(made: NativeGuards) {
    this.#native = made;
  }

  /** The guard on text that deadloop recommends, on every model. */
  static recommended(): Guards {
    return Guards.load("recommended");
  }

  /**
   * The guards of a settings file, as `deadloop tune` writes it. `"recommended"` and `"recommended-agents"` are names of what
   * deadloop recommends, where no such file is there. Throws where it is none, with line and column.
   */
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

  /**
   * The same guards for responses that answer this: those of the task, where settings have some, and each has heard what the
   * user wrote (`prompt = "skip"`). Cheap: one for each request.
   */
  answering({ task = "", user = [] }: { readonly task?: string; readonly user?: readonly string[] }): Guards {
    return new Guards(this.#native.answering(task, [...user]));
  }

  /** A fresh guard for a request to this model, or for a run of it. */
  guard(model = ""): Guard {
    return new Guard(this.#native.guard(model));
  }

  /** A fresh guard for the bytes of a streamed response; without a model the first name that it gives. */
  live(model?: string): Live {
    return new Live(this.#native.live(model));
  }

  /** A fresh guard for the chunks of a streamed response as JSON; without a model the first name that they give. */
  chunks(model?: string): Chunks {
    return new Chunks(this.#native.chunks(model));
  }

  /** Which guards never alarm where nothing but `feeds` comes, each with what it misses: `stall: no silence`. */
  blind(feeds: readonly string[], model = ""): string[] {
    return this.#native.blind([...feeds], model);
  }

  /** Whether some guard never alarms without that. */
  reads(feed: string, model = ""): boolean {
    return this.#native.reads(feed, model);
  }
}

/**
 * The guard of one stream or run: push what arrives, in the order in which it arrives. Each method returns a `Decision`. Once
 * it says `stop`, the guard reads nothing more and says so each time. Made by `Guards`.
 */
export class Guard {
  readonly #native: NativeGuard;

  constructor(made: NativeGuard) {
    this.#native = made;
  }

  /**
   * Takes the next chunk of a channel of text. A chunk may end inside a surrogate pair: the first half is held back until the
   * second has come.
   */
  push(text: string, channel: Channel): Decision {
    const at = CHANNELS.indexOf(channel);
    if (at < 0) throw new RangeError(unknown(channel, text));
    return decision(this.#native.push(at, text));
  }

  /** Takes a call of a tool, before it is run; `args`: JSON text as the model wrote it, or what it means. */
  call(name: string, args: unknown = "", id?: string): Decision {
    return decision(this.#native.call(name, written(args), id));
  }

  /** Takes the result of a call: a text, or what is written as JSON. `error`: whether it failed. */
  result(id: string | undefined, content: unknown, error?: boolean): Decision {
    return decision(this.#native.result(id, written(content), error));
  }

  /** A turn begins: the model is asked. `agent`: whose turn it is, where there are several. */
  turn(agent?: string): Decision {
    return decision(this.#native.turn(agent));
  }

  /** A message of the user. The first is the task. */
  user(text: string): Decision {
    return decision(this.#native.user(text));
  }

  /** An agent chose the next one. */
  handoff(from: string, to: string): Decision {
    return decision(this.#native.handoff(from, to));
  }

  /** Nothing has come for so many seconds: since the last event, not since the last silence. */
  silence(seconds: number): Decision {
    return decision(this.#native.silence(seconds));
  }

  /** The response or the run has ended. */
  finish(reason?: string): Decision {
    return decision(this.#native.finish(reason));
  }

  /** The connection is gone; nothing has said that this is the end. */
  closed(): Decision {
    return decision(this.#native.closed());
  }

  /** Whether it has stopped the stream. */
  get fired(): boolean {
    return this.#native.alarm !== null;
  }

  /** Why it has stopped the stream, if it has. */
  get alarm(): Alarm | null {
    const json = this.#native.alarm;
    return json === null ? null : read(json);
  }

  /** A guard for the next request, which knows nothing of what this one has read. */
  fresh(): Guard {
    return new Guard(this.#native.fresh());
  }
}

/** What is wrong with a channel, and what was meant. */
function unknown(channel: unknown, text: unknown): string {
  let hint = "";
  if (CHANNELS.includes(text as string)) hint = "; the text comes first, then its channel: push(text, channel)";
  else if (channel === "tools" || channel === "turns") hint = "; calls and turns have methods of their own: call(...), turn()";
  return `no channel of text is called ${JSON.stringify(channel)?.slice(0, 40)}; expected one of: ${CHANNELS.join(", ")}${hint}`;
}

/** What a tool was given or gave back, as text: text as it is, nothing as none, anything else as JSON. */
export function written(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? String(value));
}

/** A guard on the chunks of one streamed response, as JSON. Of several answers each has a guard of its own. Made by `Guards`. */
export class Chunks {
  readonly #native: NativeChunks;

  constructor(made: NativeChunks) {
    this.#native = made;
  }

  /** Takes the next chunk; gives what there is to do or to tell: mostly nothing. What is no chunk is left alone. */
  feed(chunk: string): Decision[] {
    return this.#native.feed(chunk).map(decision);
  }

  /** Takes a piece of plain text: of the answer, and of the thinking between `<think>` and `</think>`. */
  text(text: string): Decision[] {
    return this.#native.text(text).map(decision);
  }

  /** Nothing has come for so many seconds. */
  silence(seconds: number): Decision[] {
    return this.#native.silence(seconds).map(decision);
  }

  /** The response is over: what was held back is judged too. */
  end(): Decision[] {
    return this.#native.end().map(decision);
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

  /** Nothing has come for so many seconds. */
  silence(seconds: number): void {
    this.#native.silence(seconds);
  }

  /** The response is over: what was held back is judged too. */
  end(): void {
    this.#native.end();
  }

  /** Returns the warnings raised since the last call, one for each guard of the settings. */
  warnings(): Alarm[] {
    return this.#native.warnings().map(read);
  }

  /** Returns the refusals of calls since the last call. They cut nothing. */
  refusals(): Alarm[] {
    return this.#native.refusals().map(read);
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
