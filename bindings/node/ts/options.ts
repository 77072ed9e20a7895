/** What `watch`, `guardedFetch` and `loopMiddleware` can be told. */
import { type Alarm, LoopError } from "./alarm.js";
import { type Guard, Guards, type Live } from "./guard.js";

/**
 * What happens at an alarm, after the connection was closed: `"throw"` throws a `LoopError`; `"stop"` ends the
 * stream, with the finish reason `length` where there is one; a function is called, then as `"stop"`.
 */
export type OnAlarm = "throw" | "stop" | ((alarm: Alarm) => void);

export interface Options {
  /** Whose guards watch; the recommended ones where none are given. */
  readonly guards?: Guards;
  /** The model, for settings that have guards for some. */
  readonly model?: string;
  /** What happens at an alarm; `"throw"` where nothing is said. */
  readonly onAlarm?: OnAlarm;
  /** Called with each alarm of a guard whose `response` is `warn` or `observe`; the stream goes on. */
  readonly onWarning?: (warning: Alarm) => void;
}

let recommended: Guards | undefined;

/** The guards that are meant. */
export function guardsOf(options: Options): Guards {
  return options.guards ?? (recommended ??= Guards.recommended());
}

/** Calls with what a guard, or the guard of a response, warns of. */
export function warn(guard: Guard | Live, onWarning: Options["onWarning"]): void {
  if (onWarning !== undefined) guard.warnings().forEach((warning) => onWarning(warning));
}

/** Throws, or calls, as it was asked for. */
export function tell(alarm: Alarm, onAlarm: OnAlarm = "throw"): void {
  if (onAlarm === "throw") throw new LoopError(alarm);
  if (onAlarm !== "stop") onAlarm(alarm);
}
