/** The library that was built from Rust: what it has. */
import library from "./library.js";

/** A decision as JSON; null: to go on. */
export type Told = string | null;

export interface NativeGuard {
  push(channel: number, text: string): Told;
  call(name: string, args: string, id?: string): Told;
  result(id: string | undefined, content: string, error?: boolean): Told;
  turn(agent?: string): Told;
  user(text: string): Told;
  handoff(from: string, to: string): Told;
  silence(seconds: number): Told;
  finish(reason?: string): Told;
  closed(): Told;
  readonly alarm: string | null;
  fresh(): NativeGuard;
}

export interface NativeChunks {
  feed(chunk: string): string[];
  text(text: string): string[];
  silence(seconds: number): string[];
  end(): string[];
}

export interface NativeLive {
  feed(chunk: Uint8Array): number;
  silence(seconds: number): void;
  end(): void;
  warnings(): string[];
  refusals(): string[];
  readonly alarm: string | null;
  readonly ending: Uint8Array;
}

export interface NativeGuards {
  readonly id: string;
  answering(task: string, user: string[]): NativeGuards;
  guard(model: string): NativeGuard;
  live(model?: string): NativeLive;
  chunks(model?: string): NativeChunks;
  blind(feeds: string[], model: string): string[];
  reads(feed: string, model: string): boolean;
}

export interface Native {
  readonly Guards: {
    load(path: string): NativeGuards;
    parse(toml: string, name: string): NativeGuards;
  };
}

export const native: Native = library;
