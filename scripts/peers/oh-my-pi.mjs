#!/usr/bin/env node
// oh-my-pi's thinking-loop guard (npm @oh-my-pi/pi-ai): exact suffix cycles for every model, near-duplicate paragraphs
// and stalls for some. See README.md.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { installed, load, serve } from './protocol.mjs';

const { dir, version } = installed('@oh-my-pi/pi-ai', '18.2.11');
const amaro = await import(pathToFileURL(path.join(installed('amaro', '1.2.1').dir, 'dist/index.js')));
const typescript = fs.readFileSync(path.join(dir, 'src/utils/thinking-loop.ts'), 'utf8');
const source = (amaro.default ?? amaro).transformSync(typescript, { mode: 'transform' }).code;

const CONSTANTS = {
  tail_window: ['EXACT_TAIL_WINDOW', 4096],
  max_unit: ['EXACT_MAX_UNIT', 1024],
  check_stride: ['EXACT_CHECK_STRIDE', 128],
  short_max_unit: ['EXACT_SHORT_MAX_UNIT', 60],
  short_min_chars: ['EXACT_SHORT_MIN_REPEATED_CHARS', 180],
  long_min_chars: ['EXACT_LONG_MIN_REPEATED_CHARS', 1024],
  similarity: ['SEGMENT_SIMILARITY', 0.8],
  min_segments: ['SEGMENT_MIN_COUNT', 8],
  min_cluster: ['SEGMENT_MIN_CLUSTER', 4],
  stall_novelty: ['LEX_STALL_NOVELTY_FLOOR', 0.2],
  stall_run: ['LEX_STALL_MIN_RUN', 8],
};
// semantic: "auto" as the peer does (Gemini, DeepSeek and Grok only), or true or false for every model
const DEFAULTS = { semantic: 'auto', ...Object.fromEntries(Object.entries(CONSTANTS).map(([n, [, v]]) => [n, v])) };

serve('oh-my-pi', version, DEFAULTS, async (params) => {
  const constants = Object.fromEntries(Object.entries(CONSTANTS).map(([name, [constant]]) => [constant, params[name]]));
  const { ThinkingLoopDetector } = await load(source, { constants });
  return {
    watch: (_params, _channel, model) => {
      const semantic = params.semantic === 'auto' ? /gemini|deepseek|grok/i.test(model) : params.semantic;
      let detector = new ThinkingLoopDetector(semantic);
      return {
        feed: (text) => detector.push(text),
        close: () => detector.flush(),
        // a new stream has a new detector
        event: (event) => {
          if (event.type === 'turn' || event.type === 'tool_result') detector = new ThinkingLoopDetector(semantic);
        },
      };
    },
  };
});
