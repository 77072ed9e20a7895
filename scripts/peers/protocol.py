"""deadloop's protocol for a detector as a program, for the adapters in this folder.

An adapter gives `serve` a class whose objects watch ONE channel of ONE transcript:

    class Watch:
        def __init__(self, params, channel, model): ...
        def feed(self, text): ...   # the next piece; returns None, or the reason of an alarm (str, or (kind, reason))
        def close(self): ...        # optional: the channel's text stops here (tool call, other channel, end); as feed
        def event(self, event): ... # optional: an event that is not text (tool_call, tool_result, turn, finish)

The rest (which channel, pieces, positions, one verdict a transcript) is here and the same for every peer.
"""
import importlib.metadata
import json
import os
import pathlib
import sys

COMMON = {"chunk": 40, "channel": "both"}
CHANNELS = {"both": ("reasoning", "answer"), "reasoning": ("reasoning",), "answer": ("answer",)}
SPACE = " \n\t\r"


def stop(why):
    print(why, file=sys.stderr)
    raise SystemExit(2)


def installed(package):
    """Puts a package that scripts/peers/install fetched on the import path; its version."""
    cache = pathlib.Path(os.environ.get("DEADLOOP_PEERS") or pathlib.Path.home() / ".cache/deadloop-peers")
    found = [p for p in sorted(cache.glob(f"py/{package}-*")) if (p / ".done").exists()]
    if not found:
        stop(f"{package} is not in {cache}: run scripts/peers/install")
    sys.path.insert(0, str(found[-1]))
    name = package.lower().replace("-", "_")
    for dist in importlib.metadata.distributions(path=[str(found[-1])]):
        if dist.metadata["Name"].lower().replace("-", "_") == name:
            return dist.version
    stop(f"{found[-1]} holds no {package}")


def settle(given, defaults):
    """The parameters: the peer's own defaults, with what the settings override. A name nobody knows is refused."""
    params = {**COMMON, **defaults}
    for name, value in (given or {}).items():
        if name not in params:
            stop(f"unknown parameter `{name}`; known: {', '.join(sorted(params))}")
        params[name] = value
    if params["channel"] not in CHANNELS:
        stop(f"channel = {params['channel']!r}: both, reasoning or answer was expected")
    if type(params["chunk"]) is not int or params["chunk"] < 0:
        stop(f"chunk = {params['chunk']!r}: a whole number was expected (chars; 0: events are never cut)")
    return params


def pieces(event, size):
    """An event with a time is a real chunk of a stream and goes in as it is. One without is cut as a stream would be:
    `size` chars at most, and as tokens are, before white space rather than inside a word."""
    text = event.get("text") or ""
    if size == 0 or event.get("t_ms") is not None:
        size = len(text)
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            for i in range(end, start, -1):
                if text[i] in SPACE and text[i - 1] not in SPACE:
                    end = i
                    break
        yield text[start:end]
        start = end


class Transcript:
    """One transcript: a fresh watch for each channel, and the first alarm of any of them."""

    def __init__(self, watch, params, model):
        self.make = lambda channel: watch(params, channel, model)
        self.params = params
        self.wanted = CHANNELS[params["channel"]]
        self.watches = {}   # channel -> [watch, chars so far (Python's str counts Unicode scalar values), last event]
        self.talking = None  # the channel whose text came last
        self.index = -1

    def see(self, event):
        """The alarm that this event raises, or None."""
        self.index += 1
        kind = event.get("type")
        if kind in ("reasoning", "answer"):
            alarm = self.hush() if kind != self.talking else None
            return alarm or (self.text(kind, event) if kind in self.wanted else None)
        alarm = self.hush()
        for watch, _, _ in self.watches.values():
            if hasattr(watch, "event"):
                watch.event(event)
        return alarm

    def text(self, channel, event):
        if channel not in self.watches:
            self.watches[channel] = [self.make(channel), 0, self.index]
        slot = self.watches[channel]
        self.talking, slot[2] = channel, self.index
        for piece in pieces(event, self.params["chunk"]):
            slot[1] += len(piece)
            reason = slot[0].feed(piece)
            if reason is not None:
                return self.alarm(slot, reason)
        return None

    def hush(self):
        """The channel that talked falls silent."""
        slot = self.watches.get(self.talking)
        self.talking = None
        reason = slot[0].close() if slot and hasattr(slot[0], "close") else None
        return None if reason is None else self.alarm(slot, reason)

    @staticmethod
    def alarm(slot, reason):
        kind, detail = reason if isinstance(reason, tuple) else ("other", reason)
        return {"event": slot[2], "at": slot[1], "kind": kind, "detail": detail}


def serve(name, version, defaults, watch):
    """Speaks the protocol on stdin and stdout until stdin ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # what a peer prints goes to stderr, not between our lines

    def say(message):
        out.write(json.dumps(message, ensure_ascii=False) + "\n")
        out.flush()

    params, transcript, who = {}, None, None
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            if message.get("protocol") != 1:
                stop(f"protocol {message.get('protocol')!r}: 1 was expected")
            params = settle(message.get("params"), defaults)
            watch(params, "answer", "unknown")  # a value that the peer refuses is refused here, not in each transcript
            say({"type": "ready", "name": name, "version": version})
        elif kind == "start":
            who = message["transcript"]
            transcript = Transcript(watch, params, message.get("model") or "unknown")
        elif transcript is not None:  # None: this transcript has its verdict, the rest of it is not read
            alarm = transcript.hush() if kind == "end" else transcript.see(message)
            if alarm is not None or kind == "end":
                say({"type": "verdict", "transcript": who, "alarm": alarm})
                transcript = None
