#!/usr/bin/env node
// Qwen Code's LoopDetectionService (npm @qwen-code/qwen-code, or the older @qwen-code/qwen-code-core). See README.md.
import fs from 'node:fs';
import path from 'node:path';
import { installed, load, nothing, serve, stop } from './protocol.mjs';

const OLD = '0.0.14';
const NEW = '0.24.4';

/** The guard's part of the one-file program: from its own heading to the next file's. */
function cut(bundle) {
  const from = bundle.indexOf('\n// packages/core/src/services/loopDetectionService.ts\n');
  const to = bundle.indexOf('\n// packages/', from + 1);
  if (from < 0 || to < 0) stop('no LoopDetectionService in the bundle');
  const outside = ['ToolNames', 'TOOL_OUTPUT_TRUNCATED_PREFIX', 'PREVIEW_SIZE_CHARS', 'canonicalToolName',
    'logLoopDetected', 'LoopDetectedEvent', 'init_esbuild_shims', 'stableStringify'];
  return 'const __name = (f) => f;\n'
    + outside.map((name) => `const ${name} = globalThis.deadloopPeer.nothing;\n`).join('')
    + bundle.slice(from, to) + '\nexport { LoopDetectionService };\n';
}

// releases differ: what 0.0.14 does not have is refused there
const DEFAULTS = {
  release: NEW, threshold: 10, window: 50, history: null, periodic_occurrences: null, periodic_region: null,
};

serve('qwen-code', NEW, DEFAULTS, async (params) => {
  if (![OLD, NEW].includes(params.release)) stop(`release = ${params.release}: ${OLD} or ${NEW} was expected`);
  const old = params.release === OLD;
  const { dir, version } = old ? installed('@qwen-code/qwen-code-core', OLD) : installed('@qwen-code/qwen-code', NEW);
  let source;
  if (old) {
    source = fs.readFileSync(path.join(dir, 'dist/src/services/loopDetectionService.js'), 'utf8');
  } else {
    const [chunk] = fs.readdirSync(path.join(dir, 'chunks'));
    source = cut(fs.readFileSync(path.join(dir, 'chunks', chunk), 'utf8'));
  }
  const constants = { CONTENT_LOOP_THRESHOLD: params.threshold, CONTENT_CHUNK_SIZE: params.window };
  if (params.history !== null) constants.MAX_HISTORY_LENGTH = params.history;
  if (params.periodic_occurrences !== null) constants.PERIODIC_OCCURRENCES_REQUIRED = params.periodic_occurrences;
  if (params.periodic_region !== null) constants.MIN_PERIODIC_REGION_LENGTH = params.periodic_region;
  const { LoopDetectionService } = await load(source, {
    names: { GeminiEventType: { Content: 'content', ToolCallRequest: 'tool_call_request', Thought: 'thought' } },
    constants,
  });
  const config = new Proxy({ getSkipLoopDetection: () => false }, { get: (own, key) => own[key] ?? nothing });
  return {
    version,
    watch: (_params, channel) => {
      const service = new LoopDetectionService(config);
      service.reset('deadloop');
      // reasoning reaches it as thoughts (an OpenAI-compatible provider's: no subject); the old release looks at none,
      // so there the reasoning channel is fed as content
      const make = channel === 'reasoning' && !old
        ? (text) => ({ type: 'thought', value: { subject: '', description: text } })
        : (text) => ({ type: 'content', value: text });
      return {
        feed(text) {
          if (!service.addAndCheck(make(text))) return null;
          const type = old ? 'chanting_identical_sentences' : service.lastLoopType;
          const seen = service.lastChantExcerpt;
          return typeof seen === 'string' && seen ? `${type}: ${JSON.stringify(seen)}` : type;
        },
        event(event) {
          if (event.type !== 'tool_call') return;
          service.resetContentTracking();
          if (!old) service.thoughtHistory = [];
        },
      };
    },
  };
});
