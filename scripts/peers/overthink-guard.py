#!/usr/bin/env python3
"""overthink-guard (PyPI): the same answer stated three times, and nothing new since. See README.md."""
import dataclasses

import protocol

protocol.installed("PyYAML")
VERSION = protocol.installed("overthink-guard")
from overthink_guard.analysis import Judge, JudgeConfig  # noqa: E402
from overthink_guard.templates.registry import template_for_model  # noqa: E402

DEFAULTS = dataclasses.asdict(JudgeConfig())


class Watch:
    def __init__(self, params, channel, model):
        config = JudgeConfig(**{name: params[name] for name in DEFAULTS})
        self.judge = Judge(template_for_model(model), config)

    def feed(self, text):
        return self.reason(self.judge.feed(text))

    def close(self):  # its own replay closes the last segment when thinking ends
        if self.judge.decision is None:
            self.judge.finish()
            return self.reason(self.judge.decision)
        return None

    @staticmethod
    def reason(decision):
        if decision is None:
            return None
        return f"{'+'.join(decision.reasons)}: answer {decision.answer!r}, novelty since {decision.span_novelty:.2f}"


protocol.serve("overthink-guard", VERSION, DEFAULTS, Watch)
