/** The library that was built from Rust, for this system. */
import { createRequire } from "node:module";
import type { Native } from "./native.js";

const system = `${process.platform}-${process.arch}`;

function load(): Native {
  try {
    return createRequire(import.meta.url)(`../native/deadloop.${system}.node`);
  } catch (cause) {
    const what = `this package has no library for ${system}; build one with scripts/bindings in deadloop's repository`;
    throw new Error(what, { cause });
  }
}

const library: Native = load();
export default library;
