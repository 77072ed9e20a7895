#!/usr/bin/env python3
"""dgxarley (PyPI): n-gram flood, suffix loop, stagnation. See README.md."""
import dataclasses
import importlib.util
import pathlib
import sys

import protocol

VERSION = protocol.installed("dgxarley")
# the one module of the package that is the guard; the package itself wants a cluster's libraries
path = pathlib.Path(sys.path[0], "dgxarley/integration/streaming_repetition_guard.py")
spec = importlib.util.spec_from_file_location("streaming_repetition_guard", path)
guard = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)

DEFAULTS = dataclasses.asdict(guard.GuardConfig())


class Watch:
    def __init__(self, params, channel, model):
        self.guard = guard.RepetitionGuard(guard.GuardConfig(**{name: params[name] for name in DEFAULTS}))

    def feed(self, text):
        result = self.guard.feed(text)
        return f"{result.reason.name}: {result.detail}" if result.should_stop else None


protocol.serve("dgxarley", VERSION, DEFAULTS, Watch)
