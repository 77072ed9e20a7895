/** The objects of clients as JSON: all that is done here. What a chunk says is read in Rust, for every client alike. */

// Chunks come from clients of many kinds: nothing is known of them before it is looked at.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;

/** Parts of the AI SDK that carry text, and the field of OpenAI's chunks for it. */
const TEXTS: Readonly<Record<string, string>> = { "text-delta": "content", "reasoning-delta": "reasoning_content" };

/** The finish reasons of the AI SDK that OpenAI's chunks write otherwise. */
const REASONS: Readonly<Record<string, string>> = { "tool-calls": "tool_calls", "content-filter": "content_filter" };

/** Writes the chunks of one stream as JSON; parts of the AI SDK as chunks of OpenAI, whose calls it numbers. */
export class Writer {
  readonly #calls = new Map<string, number>();

  /** A chunk as JSON; null where nothing can be in it. */
  json(chunk: unknown): string | null {
    if (typeof chunk !== "object" || chunk === null) return null;
    const part: Any = chunk;
    const delta = typeof part.type === "string" ? this.#part(part) : undefined;
    if (delta === null) return null;
    try {
      return JSON.stringify(delta === undefined ? chunk : { choices: [{ index: 0, ...delta }] });
    } catch {
      return null; // it points at itself
    }
  }

  /** What a part of the AI SDK says; null: nothing; undefined: it is no such part. */
  #part(part: Any): object | null | undefined {
    const field = TEXTS[part.type];
    if (field !== undefined) return { delta: { [field]: part.delta ?? part.text } };
    switch (part.type) {
      case "tool-input-start":
        return this.#call(part.id, { name: part.toolName, arguments: "" });
      case "tool-input-delta":
        return this.#call(part.id, { arguments: part.delta });
      case "tool-call": {
        if (this.#calls.has(part.toolCallId)) return null; // it came in pieces
        const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input);
        return this.#call(part.toolCallId, { name: part.toolName, arguments: input });
      }
      case "finish": {
        const reason = part.finishReason?.unified ?? part.finishReason;
        return { delta: {}, finish_reason: REASONS[reason] ?? reason };
      }
      default:
        return undefined;
    }
  }

  #call(id: string, fields: object): object {
    const begun = this.#calls.get(id);
    const index = begun ?? this.#calls.size;
    this.#calls.set(id, index);
    return { delta: { tool_calls: [{ index, ...(begun === undefined && { id }), function: fields }] } };
  }
}

/** A chunk like this one that ends the stream, with the reason `length`; null where there is no such thing. */
export function last(chunk: unknown): unknown {
  const any: Any = chunk;
  if (!Array.isArray(any?.choices)) return null;
  const ended = (choice: Any): Any => {
    const text = "text" in choice ? { text: "" } : { delta: {} };
    return { ...choice, ...text, finish_reason: "length" };
  };
  return { ...any, choices: any.choices.map(ended) };
}
