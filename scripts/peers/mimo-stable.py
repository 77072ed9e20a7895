#!/usr/bin/env python3
"""mimo-stable (PyPI): three paragraphs running that are alike by 95 %. See README.md."""
import protocol

VERSION = protocol.installed("mimo-stable")
from mimo_stable.detect_loop import LoopDetector  # noqa: E402

DEFAULTS = {"repeat_threshold": 3, "similarity_threshold": 0.95}


class Watch:
    def __init__(self, params, channel, model):
        # text_mode "instant": its default also wants 180 s between the copies, and recordings seldom have times
        self.detector = LoopDetector(text_mode="instant", json_output=True, **{n: params[n] for n in DEFAULTS})
        self.rest, self.block = "", []

    def feed(self, text):
        # lines up to a blank one are a block, as its command line reads a stream
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line.strip():
                self.block.append(line)
            elif self.block:
                reason = self.flush()
                if reason:
                    return reason
        return None

    def flush(self):
        self.detector.process_block("\n".join(self.block), 0.0)
        self.block = []
        return self.detector.loop_reason if self.detector.loop_detected else None

    def close(self):
        if self.rest.strip():
            self.block.append(self.rest)
        self.rest = ""
        return self.flush() if self.block else None


protocol.serve("mimo-stable", VERSION, DEFAULTS, Watch)
