/** `Alarm`: why a stream was stopped; `LoopError`: the error that carries it. */

/** A threshold that was met: its name, its value in the settings, and what was measured. */
export interface Met {
  readonly param: string;
  readonly value: unknown;
  readonly measured: unknown;
}

/**
 * A dead loop, found in a live stream. Positions count the units of its channel: chars (code points) for text.
 * Those that end in `Utf16` count units of UTF-16, as `String.prototype.slice` does; they are there where the
 * text went through `Guard.push`.
 */
export interface Alarm {
  /** The detector that fired. */
  readonly detector: string;
  /** Which guard of the list that is, counted from 0. */
  readonly member: number;
  /** What it does: `stop`; `refuse` where one tool call is not to be run; `warn` and `observe` end nothing. */
  readonly response: string;
  /** `reasoning`, `answer` or `arguments`; of a run `tools` or `turns`. */
  readonly channel: string;
  /** What kind of loop it is: `short-sequence`, `paragraph`, `ordered-list`, … */
  readonly kind: string;
  /** The check of the detector that decided. */
  readonly check: string;
  /** The thresholds that were met. */
  readonly thresholds: readonly Met[];
  /** The position after which a detector that sees one char at a time knows. */
  readonly exact: number;
  /** The end of the chunk that holds it: what had arrived. */
  readonly delivered: number;
  /** Where the second copy begins, as far as the detector could see. */
  readonly onset: number;
  readonly exactUtf16?: number;
  readonly deliveredUtf16?: number;
  readonly onsetUtf16?: number;
  /** Length of one copy; 0 where there are no exact copies. */
  readonly period: number;
  /** Whole copies in a row, the first included. */
  readonly copies: number;
  /** What repeats, cut to 80 chars. */
  readonly unit: string;
  /** How many chunks had been pushed before. */
  readonly event: number;
  /** Tool calls by then. */
  readonly calls: number;
  /** Turns of an agent by then. */
  readonly turns: number;
  /** What repeats, in numbers: `7 copies of 36 chars`. */
  readonly what: string;
  /** All of it in one line, for a log. */
  readonly logLine: string;
  /** A sentence for the person who waits, in English. */
  readonly userMessage: string;
}

/** The alarm that the native half wrote. */
export function read(json: string): Alarm {
  const { log_line: logLine, user_message: userMessage, ...rest } = JSON.parse(json);
  return { ...rest, logLine, userMessage };
}

/** A stream was stopped because the model goes in circles. `alarm` says why. */
export class LoopError extends Error {
  readonly alarm: Alarm;

  constructor(alarm: Alarm) {
    super(alarm.logLine);
    this.name = "LoopError";
    this.alarm = alarm;
  }
}
