#!/usr/bin/env python3
"""Rapid-MLX (PyPI): an exact cycle of tokens at the end, asked for each 8 tokens. See README.md."""
import inspect
import re
import sys
import types

import protocol

VERSION = protocol.installed("rapid-mlx")
# the detection needs no MLX (Apple's own); the module names it for a sampler that is not used here
mlx = types.ModuleType("mlx.core")
mlx.array = object
sys.modules.update({"mlx": types.ModuleType("mlx"), "mlx.core": mlx})
from rapid_mlx.repetition_guard import detect_repeated_token_suffix  # noqa: E402

DEFAULTS = {name: p.default for name, p in inspect.signature(detect_repeated_token_suffix).parameters.items()
            if p.default is not p.empty}
DEFAULTS["every"] = 8  # its scheduler's

# What stands for the model's tokenizer, which a recording does not have: words with the space before them (in parts of
# eight letters), up to three digits, single ideographs, runs of punctuation, runs of white space.
TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"| ?(?:(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[^\W\d_]){1,8}"
    r"| ?\d{1,3}| ?(?:[^\w\s]|_){1,8}|\s+(?=\S)|\s+|.", re.DOTALL)


class Watch:
    def __init__(self, params, channel, model):
        self.every = params["every"]
        self.limits = {name: params[name] for name in DEFAULTS if name != "every"}
        self.vocabulary, self.tokens, self.seen, self.rest = {}, [], 0, ""

    def feed(self, text):
        self.rest += text
        ends = [m.end() for m in TOKEN.finditer(self.rest)][:-1]  # the last may not be whole yet
        start = 0
        for end in ends:
            word, start = self.rest[start:end], end
            self.tokens.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
            self.seen += 1
            if self.seen % self.every == 0:
                match = detect_repeated_token_suffix(self.tokens, **self.limits)
                if match:
                    return f"period {match.period_tokens} tokens, {match.repeats} repeats"
        self.rest = self.rest[start:]
        del self.tokens[:-4 * self.limits["max_window_tokens"]]  # it reads no further back than its window
        return None


protocol.serve("rapid-mlx", VERSION, DEFAULTS, Watch)
