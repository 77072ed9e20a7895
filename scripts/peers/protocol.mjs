// deadloop's protocol for a detector as a program, for the adapters in this folder.
//
// An adapter gives `serve` a function that makes a watch for ONE channel of ONE transcript:
//
//   (params, channel, model) => ({
//     feed(text) {},    // the next piece; returns null, or the reason of an alarm (a string, or {kind, detail})
//     close() {},       // optional: the channel's text stops here (tool call, other channel, end); as feed
//     event(event) {},  // optional: an event that is not text (tool_call, tool_result, turn, finish)
//   })
//
// The rest (which channel, pieces, positions, one verdict a transcript) is here and the same for every peer. Positions
// count Unicode scalar values; a JavaScript string counts UTF-16 units, so an emoji is two there and one here.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const COMMON = { chunk: 40, channel: 'both' };
const CHANNELS = { both: ['reasoning', 'answer'], reasoning: ['reasoning'], answer: ['answer'] };

export function stop(why) {
  fs.writeSync(2, why + '\n');
  process.exit(2);
}

/** The folder of an npm package that scripts/peers/install fetched, and its version. */
export function installed(name, version) {
  const cache = process.env.DEADLOOP_PEERS || path.join(os.homedir(), '.cache/deadloop-peers');
  const dir = path.join(cache, 'npm', `${name}@${version}`);
  if (!fs.existsSync(path.join(dir, '.done'))) stop(`${name}@${version} is not in ${cache}: run scripts/peers/install`);
  return { dir, version: JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8')).version };
}

/** Anything at all: may be called, constructed, read; stands for what a guard imports and its detection never needs. */
export const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === 'then' ? undefined : key === Symbol.toPrimitive ? () => '' : nothing),
  apply: () => nothing,
  construct: () => nothing,
});

/**
 * Loads the guard's own source alone: what it imports from its package is replaced (`names` by the values given, the
 * rest by `nothing`), and constants at its top are set to the parameters that override them, so that a peer whose
 * thresholds are written into its code can be swept all the same.
 */
export async function load(source, { names = {}, constants = {} }) {
  for (const [constant, value] of Object.entries(constants)) {
    const parts = source.split(new RegExp(`^((?:const|var|let) ${constant} = )[^;]+;`, 'm'));
    if (parts.length !== 3) stop(`constant ${constant} stands ${(parts.length - 1) / 2} times in the peer's source`);
    source = `${parts[0]}${parts[1]}${value};${parts[2]}`;
  }
  globalThis.deadloopPeer = { names, nothing };
  source = source.replace(/^import ([^;]*?) from ["']([^"']+)["'];/gm, (whole, what, from) => {
    if (from.startsWith('node:')) return whole;
    if (what.startsWith('type ')) return '';
    const list = /^\{([^]*)\}$/.exec(what)?.[1].split(',') ?? [what.replace('* as', '')];
    return list.map((n) => n.trim().split(' as ').pop()).filter(Boolean)
      .map((n) => `const ${n} = globalThis.deadloopPeer.names.${n} ?? globalThis.deadloopPeer.nothing;`).join(' ');
  });
  return import('data:text/javascript;base64,' + Buffer.from(source).toString('base64'));
}

/** The parameters: the peer's own defaults, with what the settings override. A name nobody knows is refused. */
function settle(given, defaults) {
  const params = { ...COMMON, ...defaults };
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!(name in params)) stop(`unknown parameter \`${name}\`; known: ${Object.keys(params).sort().join(', ')}`);
    params[name] = value;
  }
  if (!(params.channel in CHANNELS)) stop(`channel = ${params.channel}: both, reasoning or answer was expected`);
  if (!Number.isInteger(params.chunk) || params.chunk < 0) {
    stop(`chunk = ${params.chunk}: a whole number was expected (chars; 0: events are never cut)`);
  }
  return params;
}

const length = (text) => {
  let n = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) n--;
  return n;
};

const space = (code) => code === 32 || code === 10 || code === 9 || code === 13;

/**
 * An event with a time is a real chunk of a stream and goes in as it is. One without is cut as a stream would be:
 * `size` chars at most, and as tokens are, before white space rather than inside a word.
 */
function* pieces(event, size) {
  const text = event.text ?? '';
  if (size === 0 || event.t_ms != null) size = text.length;
  for (let start = 0; start < text.length;) {
    let end = start;
    for (let n = 0; n < size && end < text.length; n++) end += text.codePointAt(end) > 0xffff ? 2 : 1;
    if (end < text.length) {
      for (let i = end; i > start; i--) {
        if (space(text.charCodeAt(i)) && !space(text.charCodeAt(i - 1))) {
          end = i;
          break;
        }
      }
    }
    yield text.slice(start, end);
    start = end;
  }
}

const alarm = (slot, reason) => ({
  event: slot.event, at: slot.at, kind: reason.kind ?? 'other', detail: String(reason.detail ?? reason).toWellFormed(),
});

/** One transcript: a fresh watch for each channel, and the first alarm of any of them. */
class Transcript {
  slots = {}; // channel -> {watch, at: chars so far, event: its last event}
  talking = null; // the channel whose text came last
  index = -1;

  constructor(watch, params, model) {
    Object.assign(this, { watch, params, model });
  }

  /** The alarm that this event raises, or null. */
  see(event) {
    this.index++;
    if (event.type === 'reasoning' || event.type === 'answer') {
      const early = event.type !== this.talking ? this.hush() : null;
      return early ?? (CHANNELS[this.params.channel].includes(event.type) ? this.text(event) : null);
    }
    const early = this.hush();
    for (const slot of Object.values(this.slots)) slot.watch.event?.(event);
    return early;
  }

  text(event) {
    const make = () => ({ watch: this.watch(this.params, event.type, this.model), at: 0, event: 0 });
    const slot = (this.slots[event.type] ??= make());
    this.talking = event.type;
    slot.event = this.index;
    for (const piece of pieces(event, this.params.chunk)) {
      slot.at += length(piece);
      const reason = slot.watch.feed(piece);
      if (reason != null) return alarm(slot, reason);
    }
    return null;
  }

  /** The channel that talked falls silent. */
  hush() {
    const slot = this.slots[this.talking];
    this.talking = null;
    const reason = slot?.watch.close?.();
    return reason == null ? null : alarm(slot, reason);
  }
}

/** Speaks the protocol until stdin ends. `prepare(params)`: at hello, gives {watch, name?, version?}. */
export async function serve(name, version, defaults, prepare) {
  const say = (message) => fs.writeSync(1, JSON.stringify(message) + '\n');
  console.log = console.info = console.debug = console.error; // what a peer prints must not stand between our lines
  let params, peer, transcript, who;
  const take = async (line) => {
    const message = JSON.parse(line);
    if (message.type === 'hello') {
      if (message.protocol !== 1) stop(`protocol ${message.protocol}: 1 was expected`);
      params = settle(message.params, defaults);
      peer = await prepare(params);
      peer.watch(params, 'answer', 'unknown'); // a value that the peer refuses is refused here, not in each transcript
      say({ type: 'ready', name: peer.name ?? name, version: peer.version ?? version });
    } else if (message.type === 'start') {
      who = message.transcript;
      transcript = new Transcript(peer.watch, params, message.model ?? 'unknown');
    } else if (transcript) { // else: this transcript has its verdict, the rest of it is not read
      const end = message.type === 'end';
      const found = end ? transcript.hush() : transcript.see(message);
      if (found || end) {
        say({ type: 'verdict', transcript: who, alarm: found });
        transcript = null;
      }
    }
  };
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const data of process.stdin) {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line) await take(line);
  }
  if (rest) await take(rest);
}
