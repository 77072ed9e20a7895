/** The library that was built from Rust, for this system. */
import { createRequire } from "node:module";

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

interface Native {
  readonly Guards: {
    recommended(): NativeGuards;
    load(path: string): NativeGuards;
    parse(toml: string, name: string): NativeGuards;
  };
}

const system = `${process.platform}-${process.arch}`;

function load(): Native {
  try {
    return createRequire(import.meta.url)(`../native/deadloop.${system}.node`);
  } catch (cause) {
    const what = `this package has no library for ${system}; build one with scripts/bindings in deadloop's repository`;
    throw new Error(what, { cause });
  }
}

export const native: Native = load();
