#!/usr/bin/env node
// Gemini CLI's LoopDetectionService (npm @google/gemini-cli-core): 50-char windows that recur. See README.md.
import fs from 'node:fs';
import path from 'node:path';
import { installed, load, serve } from './protocol.mjs';

const { dir, version } = installed('@google/gemini-cli-core', '0.61.0');
const source = fs.readFileSync(path.join(dir, 'dist/src/services/loopDetectionService.js'), 'utf8');

// written into its code; named here so that they can be swept
const DEFAULTS = { threshold: 10, window: 50, history: 5000 };

serve('gemini-cli', version, DEFAULTS, async (params) => {
  const { LoopDetectionService } = await load(source, {
    names: { GeminiEventType: { Content: 'content', ToolCallRequest: 'tool_call_request' } },
    constants: {
      CONTENT_LOOP_THRESHOLD: params.threshold,
      CONTENT_CHUNK_SIZE: params.window,
      MAX_HISTORY_LENGTH: params.history,
    },
  });
  const config = { getDisableLoopDetection: () => false };
  return {
    watch: () => {
      const service = new LoopDetectionService({ config });
      service.reset('deadloop');
      return {
        feed: (text) => service.addAndCheck({ type: 'content', value: text }).detail,
        // its own answer to a tool call, without the counting of calls, which is not about text
        event: (event) => { if (event.type === 'tool_call') service.resetContentTracking(); },
      };
    },
  };
});
