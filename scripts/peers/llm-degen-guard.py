#!/usr/bin/env python3
"""llm-degen-guard (PyPI): four signals over the last 256 chars, each 64 chars. See README.md."""
import protocol

VERSION = protocol.installed("llm-degen-guard")
from degen_guard import DegenGuard  # noqa: E402

# its own defaults, read from the peer so that they are the installed version's
DEFAULTS = {name: getattr(DegenGuard(), name)
            for name in ("window_size", "check_interval", "alert_threshold", "score_threshold", "structural_discount")}


class Watch:
    def __init__(self, params, channel, model):
        self.guard = DegenGuard(**{name: params[name] for name in DEFAULTS})

    def feed(self, text):
        degenerate, score = self.guard.feed(text)
        return f"composite score {score:.2f}" if degenerate else None


protocol.serve("llm-degen-guard", VERSION, DEFAULTS, Watch)
