"""`Transport` and `AsyncTransport`: every streamed response of a client of httpx or httpx2 through a guard.

    client = openai.OpenAI(http_client=httpx.Client(transport=deadloop.http.Transport(guards)))

The calls of the client stay as they are. This sees more than a framework's callbacks do: LangChain, for
one, drops the thinking before them.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

from deadloop._alarm import Alarm, LoopError
from deadloop._deadloop import Guards, Live

OnAlarm = Literal["raise", "stop"] | Callable[[Alarm], object]
OnWarning = Callable[[Alarm], object]

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
        on_warning: OnWarning | None = None,
    ) -> None:
        """A transport around `inner`, or around the library's own with its defaults.

        `guards`: the recommended ones where none are given. `model`: whose guard watches; else the one that
        the request names. `on_alarm`: `"raise"` raises LoopError from the stream; `"stop"` ends the response
        as its API ends one that was too long; something to call is called with the alarm, then as `"stop"`.
        `on_warning` is called with each alarm of a guard that only warns or observes.
        """
        if not (callable(on_alarm) or on_alarm in ("raise", "stop")):
            raise ValueError(f"on_alarm is {on_alarm!r}; expected 'raise', 'stop' or something to call")
        self.guards = guards or Guards.recommended()
        self.inner = inner
        self.model = model
        self.on_alarm = on_alarm
        self.on_warning = on_warning

    def _library(self, request: Any) -> Any:
        """httpx or httpx2: the one that made the request."""
        return importlib.import_module(type(request).__module__.partition(".")[0])

    def _live(self, request: Any, response: Any) -> Live | None:
        """A guard for a response that is a stream."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = response.headers.get("content-encoding", "identity").lower() != "identity"
        if kind not in STREAMS or packed or not 200 <= response.status_code < 300:
            return None
        return self.guards.live(self.model or _model(request))


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

    def __init__(self, inner: Any, live: Live, on_alarm: OnAlarm, on_warning: OnWarning | None) -> None:
        self.inner = inner
        self.live = live
        self.on_alarm = on_alarm
        self.on_warning = on_warning

    def _feed(self, chunk: bytes) -> bytes:
        """What of the chunk is passed on. Tells what it warns of."""
        passed = self.live.feed(chunk)
        if self.on_warning is not None:
            for warning in self.live.warnings():
                self.on_warning(warning)
        return passed

    def _tail(self, alarm: Alarm) -> bytes:
        """What comes after what was passed on. Raises where it should."""
        if self.on_alarm == "raise":
            raise LoopError(alarm)
        if callable(self.on_alarm):
            self.on_alarm(alarm)
        return self.live.ending


class _Sync(_Body):
    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.inner:
            passed = self._feed(chunk)
            alarm = self.live.alarm
            if alarm is None:
                yield passed
                continue
            self.inner.close()
            yield passed
            yield self._tail(alarm)
            return

    def close(self) -> None:
        self.inner.close()


class _Async(_Body):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.inner:
            passed = self._feed(chunk)
            alarm = self.live.alarm
            if alarm is None:
                yield passed
                continue
            await self.inner.aclose()
            yield passed
            yield self._tail(alarm)
            return

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
        if (live := self._live(request, response)) is not None:
            body = _body(_Sync, library.SyncByteStream)
            response.stream = body(response.stream, live, self.on_alarm, self.on_warning)
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
        if (live := self._live(request, response)) is not None:
            body = _body(_Async, library.AsyncByteStream)
            response.stream = body(response.stream, live, self.on_alarm, self.on_warning)
        return response

    async def aclose(self) -> None:
        """Closes the connections."""
        if self.inner is not None:
            await self.inner.aclose()

    async def __aenter__(self) -> AsyncTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
