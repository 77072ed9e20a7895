#!/usr/bin/env python3
"""A detector of your own, to copy: alarms when the same line stands N times in a row (params: {"lines": 5}).

deadloop writes one JSON object a line to our stdin and reads our answers, one a line, from our stdout:

    in   {"type":"hello","protocol":1,"params":{"lines":5}}              once
    out  {"type":"ready","name":"same-line","version":"1"}
    in   {"type":"start","transcript":"id","model":"some-model"}         then for each transcript:
    in   {"type":"answer","text":"one piece of the stream"}              its events, in order, as they were recorded
    in   {"type":"end"}
    out  {"type":"verdict","transcript":"id","alarm":null}               exactly one answer a transcript

Answer with an alarm as soon as you see the loop; deadloop then stops sending that transcript (what was already on its
way must be ignored, until the next "start"). Anything for people goes to stderr: stdout is for the protocol alone.
"""
import json
import sys


class SameLine:
    """Watches one channel of one transcript."""

    def __init__(self, lines):
        self.lines = lines   # how many equal lines make a loop
        self.line = ""       # the line that is being written
        self.previous = None
        self.count = 0
        self.chars = 0       # chars seen so far: positions count Unicode characters, as Python's str does

    def feed(self, text):
        """The next piece of the stream, cut anywhere. Returns the position of the alarm, or None."""
        for char in text:
            self.chars += 1
            if char != "\n":
                self.line += char
                continue
            line, self.line = self.line.strip(), ""
            if not line:
                continue
            self.count = self.count + 1 if line == self.previous else 1
            self.previous = line
            if self.count >= self.lines:
                return self.chars
        return None


def answer(message):
    print(json.dumps(message), flush=True)  # flush: deadloop waits for it


lines = 5
transcript = None  # the id of the transcript that has no verdict yet

for raw in sys.stdin.buffer:
    message = json.loads(raw)
    kind = message["type"]

    if kind == "hello":
        lines = message["params"].get("lines", lines)
        answer({"type": "ready", "name": "same-line", "version": "1"})

    elif kind == "start":
        transcript, index = message["transcript"], -1
        channels = {"reasoning": SameLine(lines), "answer": SameLine(lines)}  # nothing is kept from the last one

    elif transcript is None:
        pass  # it has its verdict already

    elif kind == "end":
        answer({"type": "verdict", "transcript": transcript, "alarm": None})
        transcript = None

    else:
        index += 1  # every event counts, from 0, tool calls too
        if kind in channels:
            at = channels[kind].feed(message["text"])
            if at is not None:
                answer({"type": "verdict", "transcript": transcript, "alarm": {
                    "event": index,        # the event in which it fired
                    "at": at,              # chars of this channel read by then
                    "kind": "paragraph",   # or short-sequence, ordered-list, near-repeat, …; when in doubt: other
                    "detail": f"{lines} times {channels[kind].previous!r}",
                }})
                transcript = None
