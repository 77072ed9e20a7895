#!/usr/bin/env python3
"""The floor of scripts/board: a limit on length, 4 chars a token. No project's guard."""
import protocol


class Watch:
    def __init__(self, params, channel, model):
        self.left = 4 * params["max_tokens"]

    def feed(self, text):
        self.left -= len(text)
        return "the limit" if self.left <= 0 else None


protocol.serve("max-tokens", "1", {"max_tokens": 4096}, Watch)
