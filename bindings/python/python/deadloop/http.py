"""`Transport` and `AsyncTransport`: every streamed response of a client of httpx or httpx2 through a guard.

    client = openai.OpenAI(http_client=httpx.Client(transport=deadloop.http.Transport(guards)))

The calls of the client stay as they are. This sees more than a framework's callbacks do: LangChain, for
one, drops the thinking before them.
"""

from __future__ import annotations

import functools
import importlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from deadloop import _options
from deadloop._deadloop import Guards, Live
from deadloop._options import OnAlarm, OnWarning, Told
from deadloop._watch import SILENT, ticking

# Content types of responses that come event by event.
STREAMS = ("text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl")


class _Base:
    def __init__(
        self,
        guards: Guards | None = None,
        *,
        inner: Any = None,
        model: str | None = None,
        on_alarm: OnAlarm = "raise",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """A transport around `inner`, or around the library's own with its defaults.

        Args:
            guards: The recommended ones where none are given.
            inner: The transport underneath.
            model: Whose guard watches; else the one that the request names.
            on_alarm: `"raise"` raises LoopError from the stream; `"stop"` ends the response as its API ends one that was too
                long; something to call is called with the alarm, then as `"stop"`.
            on_refuse: Called with each alarm that refuses a call, which ends nothing; without it `on_warning` is.
            on_warning: Called with each alarm of a guard that only warns or observes.
            strict: Whether settings with a guard that sees nothing here raise ValueError; else a warning names it, once.
        """
        self.told = Told(on_alarm, on_refuse, on_warning)
        self.guards = guards or Guards.recommended()
        self.inner = inner
        self.model = model
        _options.see(self.guards, _options.RESPONSE, "a response over HTTP", model=model or "", strict=strict)

    def _library(self, request: Any) -> Any:
        """httpx or httpx2: the one that made the request."""
        return importlib.import_module(type(request).__module__.partition(".")[0])

    def _guard(self, request: Any, response: Any, body: type, stream: type) -> None:
        """Puts a guard around the body of a response that is a stream."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = response.headers.get("content-encoding", "identity").lower() != "identity"
        if kind not in STREAMS or packed or not 200 <= response.status_code < 300:
            return
        if "content-length" in response.headers:
            del response.headers["content-length"]  # a response that is cut is shorter, and its ending is new
        model = self.model or _model(request)
        listens = self.guards.reads("silence", model or "")
        response.stream = _body(body, stream)(response.stream, self.guards.live(model), self.told, listens)


def _model(request: Any) -> str | None:
    """The model that the body of a request names."""
    try:
        body = json.loads(request.content)
    except Exception:  # a body that is streamed, or no JSON: then the response says it
        return None
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) and model else None


def _unpacked(request: Any) -> None:
    """Asks for a body that is not compressed: a guard has to read each event when it comes."""
    request.headers["accept-encoding"] = "identity"


class _Body:
    """The body of a response through its guard."""

    def __init__(self, inner: Any, live: Live, told: Told, listens: bool) -> None:
        self.inner = inner
        self.live = live
        self.told = told
        self.listens = listens
        self.heard = time.monotonic()

    def _feed(self, chunk: bytes) -> bytes:
        """What of the chunk is passed on. Tells what it warns of and refuses."""
        if self._silence():
            return b""
        self.heard = time.monotonic()
        passed = self.live.feed(chunk)
        self._tell()
        return passed

    def _silence(self) -> bool:
        """Whether the response ends because nothing has come for so long."""
        seconds = time.monotonic() - self.heard
        if self.listens and seconds >= SILENT:
            self.live.silence(seconds)
            self._tell()
        return self.live.alarm is not None

    def _tell(self) -> None:
        for warning in self.live.warnings():
            self.told.warns(warning)
        for alarm in self.live.refusals():
            self.told.refuses(alarm)

    def _over(self) -> None:
        """The response has ended by itself: what was held back until then is judged."""
        if self.live.alarm is None:
            self.live.end()
            self._tell()

    def _tail(self) -> bytes:
        """What comes after what was passed on. Raises where it should."""
        alarm = self.live.alarm
        if alarm is None:
            return b""
        self.told.ends(alarm)
        return self.live.ending


class _Sync(_Body):
    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.inner:
            passed = self._feed(chunk)
            if self.live.alarm is not None:
                self.close()
                yield passed
                break
            yield passed
        else:
            self._over()
        if tail := self._tail():
            yield tail

    def close(self) -> None:
        self.inner.close()


class _Async(_Body):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self.inner)
        async for chunk in ticking(chunks, self._silence) if self.listens else chunks:
            passed = self._feed(chunk)
            if self.live.alarm is not None:
                await self.aclose()
                yield passed
                break
            yield passed
        else:
            if self.live.alarm is not None:  # it ended in silence
                await self.aclose()
            self._over()
        if tail := self._tail():
            yield tail

    async def aclose(self) -> None:
        await self.inner.aclose()


@functools.cache
def _body(base: type, stream: type) -> Any:
    """Both libraries ask that the body of a response is of a class of theirs."""
    return type(base.__name__, (base, stream), {})


class Transport(_Base):
    """A transport for `httpx.Client` and `httpx2.Client`."""

    def handle_request(self, request: Any) -> Any:
        """Sends a request; the body of its response goes through a guard."""
        library = self._library(request)
        if self.inner is None:
            self.inner = library.HTTPTransport()
        _unpacked(request)
        response = self.inner.handle_request(request)
        self._guard(request, response, _Sync, library.SyncByteStream)
        return response

    def close(self) -> None:
        """Closes the connections."""
        if self.inner is not None:
            self.inner.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTransport(_Base):
    """A transport for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    async def handle_async_request(self, request: Any) -> Any:
        """Sends a request; the body of its response goes through a guard."""
        library = self._library(request)
        if self.inner is None:
            self.inner = library.AsyncHTTPTransport()
        _unpacked(request)
        response = await self.inner.handle_async_request(request)
        self._guard(request, response, _Async, library.AsyncByteStream)
        return response

    async def aclose(self) -> None:
        """Closes the connections."""
        if self.inner is not None:
            await self.inner.aclose()

    async def __aenter__(self) -> AsyncTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
