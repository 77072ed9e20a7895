/** The library that was built from Rust: what it has, whichever it is. `imports` of package.json names it. */
import library from "#library";

export interface NativeGuard {
  push(channel: number, text: string): string | null;
  warnings(): string[];
  units(channel: number, chars: number): number;
  readonly fired: boolean;
  fresh(): NativeGuard;
}

export interface NativeLive {
  feed(chunk: Uint8Array): number;
  end(): void;
  warnings(): string[];
  readonly alarm: string | null;
  readonly ending: Uint8Array;
}

export interface NativeGuards {
  readonly id: string;
  guard(model: string): NativeGuard;
  live(model?: string): NativeLive;
}

export interface Native {
  readonly Guards: {
    recommended(): NativeGuards;
    load(path: string): NativeGuards;
    parse(toml: string, name: string): NativeGuards;
  };
}

export const native: Native = library;
