/**
 * Guards that stop dead loops in LLM streams.
 *
 * | to find | look in |
 * |---|---|
 * | a guard, fed by hand, and what it decides | `Guards`, `Guard`, `Decision` |
 * | the stream of a client through a guard | `watch` |
 * | every stream of a client, without a change of its calls | `guardedFetch` |
 * | Vercel's AI SDK: a model, the tools of an agent | `loopMiddleware`, `guardedTools` |
 * | a client of MCP | `guardedClient` |
 * | a run of an agent that you tell of by hand | `Run` |
 * | a class that is asked about the whole text each time | `DeadLoopDetector` |
 */
export { guardedClient, guardedTools, Run, type RunOptions } from "./agents.js";
export { type Alarm, type Decision, LoopError, type Met } from "./alarm.js";
export { DeadLoopDetector, type Detection } from "./detector.js";
export { guardedFetch } from "./fetch.js";
export { type Channel, Chunks, Guard, Guards, Live } from "./guard.js";
export { loopMiddleware } from "./middleware.js";
export { type Listeners, type OnAlarm, type Options } from "./options.js";
export { type Text, watch, Watch, type WatchOptions } from "./watch.js";
