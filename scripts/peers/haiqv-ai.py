#!/usr/bin/env python3
"""haiqv-ai (PyPI): the last 100 chars stand 5 times in the last 2,000; and a budget of 50,000 chars. See README.md."""
import inspect
import pathlib
import sys
import types

import protocol

VERSION = protocol.installed("haiqv-ai")
# an empty package in place of its __init__, which wants an HTTP client
package = types.ModuleType("haiqv_ai")
package.__path__ = [str(pathlib.Path(sys.path[0], "haiqv_ai"))]
sys.modules["haiqv_ai"] = package
from haiqv_ai.exceptions import RunawayError  # noqa: E402
from haiqv_ai.guards.runaway import RunawayGuard  # noqa: E402

NAMES = ("max_output_chars", "repetition_window", "repetition_pattern_size", "repetition_threshold",
         "repetition_min_length")
DEFAULTS = {name: inspect.signature(RunawayGuard).parameters[name].default for name in NAMES}
FIELD = {"reasoning": "reasoning_content", "answer": "content"}


class Watch:
    def __init__(self, params, channel, model):
        self.guard = RunawayGuard(**{name: params[name] for name in NAMES})
        self.field = FIELD[channel]

    def feed(self, text):
        try:
            self.guard.observe(0, {self.field: text})
        except RunawayError as error:
            return f"{error.reason}: {error}"
        return None


protocol.serve("haiqv-ai", VERSION, DEFAULTS, Watch)
