/** What `watch`, `guardedFetch` and the rest are told alike: what happens at an alarm; and which guards are blind. */
import { type Alarm, type Decision, LoopError } from "./alarm.js";
import { Guards } from "./guard.js";

/**
 * What happens at an alarm that stops, after the connection was closed: `"throw"` (or `"raise"`, as in Python) throws a
 * `LoopError`; `"stop"` ends the stream, with the finish reason `length` where there is one; a function is called, then as
 * `"stop"`.
 */
export type OnAlarm = "throw" | "raise" | "stop" | ((alarm: Alarm) => void);

/** Who is told of alarms that end nothing. */
export interface Listeners {
  /** Called with each alarm that refuses a call, which ends no stream; without it `onWarning` is. */
  readonly onRefuse?: (alarm: Alarm) => void;
  /** Called with each alarm of a guard whose `response` is `warn` or `observe`; the stream goes on. */
  readonly onWarning?: (warning: Alarm) => void;
}

export interface Options extends Listeners {
  /** Whose guards watch; the recommended ones where none are given. */
  readonly guards?: Guards;
  /** The model, for settings that have guards for some. */
  readonly model?: string;
  /** What happens at an alarm that stops; `"throw"` where nothing is said. */
  readonly onAlarm?: OnAlarm;
  /** Whether settings with a guard that sees nothing here throw; else a warning on the console names it, once. */
  readonly strict?: boolean;
}

/** What the response of a model's server brings: what tools answer is the client's, and turns begin with it. */
export const RESPONSE: readonly string[] = ["reasoning", "answer", "arguments", "calls", "silence", "ends"];

const shipped = new Map<string, Guards>();

/** The guards that are meant. */
export function guardsOf(options: { readonly guards?: Guards }, name = "recommended"): Guards {
  const found = options.guards ?? shipped.get(name);
  if (found !== undefined) return found;
  const made = Guards.load(name);
  shipped.set(name, made);
  return made;
}

const said = new Set<string>();

/** Says once, by name, which guards never see anything where only `feeds` come; throws if `strict`. */
export function see(
  guards: Guards,
  feeds: readonly string[],
  where: string,
  options: { readonly model?: string; readonly strict?: boolean },
): void {
  const blind = guards.blind(feeds, options.model ?? "");
  if (blind.length === 0) return;
  const what =
    `${where} brings no guard what it never gets: ${blind.join("; ")}. Take them out of the settings, feed a Guard by hand ` +
    "(guard.call, guard.result, guard.turn), or guard the loop of an agent with Run";
  if (options.strict) throw new RangeError(what);
  const key = `${guards.id} ${where}`;
  if (said.has(key)) return;
  said.add(key);
  console.warn(`deadloop: ${what}`);
}

/** Tells of warnings and refusals. Gives the alarm that ends the stream. */
export function hear(decision: Decision, listeners: Listeners): Alarm | null {
  if (listeners.onWarning !== undefined) decision.warnings.forEach((warning) => listeners.onWarning?.(warning));
  if (decision.action === "refuse" && decision.alarm !== null) (listeners.onRefuse ?? listeners.onWarning)?.(decision.alarm);
  return decision.action === "stop" ? decision.alarm : null;
}

/** Throws, or calls, as it was asked for. */
export function tell(alarm: Alarm, onAlarm: OnAlarm = "throw"): void {
  if (onAlarm === "throw" || onAlarm === "raise") throw new LoopError(alarm);
  if (onAlarm !== "stop") onAlarm(alarm);
}

/** What can be said for `onAlarm`; throws at anything else. */
export function checked(onAlarm: unknown): void {
  const known = onAlarm === undefined || typeof onAlarm === "function" || ["throw", "raise", "stop"].includes(onAlarm as string);
  if (!known) throw new RangeError(`onAlarm is ${JSON.stringify(onAlarm)}; expected "throw", "raise", "stop" or a function`);
}
