/** `Alarm`: why a stream was stopped; `Decision`: what a guard wants done; `LoopError`: the error that carries an alarm. */

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
  /** A sentence for the person who waits, in English or Chinese. */
  readonly userMessage: string;
  /** A sentence for the model, as the result of a call that was not run, in English or Chinese. */
  readonly refusal: string;
}

/** What a guard wants done about an event: the answer of `Guard.push`, `call`, `result` and the others. */
export interface Decision {
  /** `continue`; `refuse`: that call is not to be run, the run goes on; `stop`: nothing more is to be read or run. */
  readonly action: "continue" | "refuse" | "stop";
  /** Why, where it refuses or stops. */
  readonly alarm: Alarm | null;
  /** Alarms of guards whose `response` is `warn` or `observe`: of each guard the first. They decide nothing. */
  readonly warnings: readonly Alarm[];
}

/** Nothing is to be done. */
const CONTINUE: Decision = Object.freeze({ action: "continue", alarm: null, warnings: Object.freeze([]) });

/** What the names of an alarm's JSON are here. */
const NAMES: Readonly<Record<string, string>> = {
  log_line: "logLine",
  user_message: "userMessage",
  exact_utf16: "exactUtf16",
  delivered_utf16: "deliveredUtf16",
  onset_utf16: "onsetUtf16",
};

/** The alarm that the native half wrote. */
export function read(json: string): Alarm {
  return alarmOf(JSON.parse(json));
}

function alarmOf(fields: object): Alarm {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [NAMES[name] ?? name, value])) as unknown as Alarm;
}

/** The decision that the native half wrote; where it wrote nothing, to go on. */
export function decision(json: string | null): Decision {
  if (json === null) return CONTINUE;
  const { action, alarm, warnings } = JSON.parse(json);
  return { action, alarm: alarm === null ? null : alarmOf(alarm), warnings: warnings.map(alarmOf) };
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
