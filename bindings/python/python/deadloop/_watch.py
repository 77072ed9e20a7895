"""`watch` and `awatch`: the stream of a client through a guard."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Generic, Literal, TypeVar

from deadloop import _chunks
from deadloop._alarm import Alarm, LoopError
from deadloop._deadloop import Guard, Guards

T = TypeVar("T")
OnAlarm = Literal["raise", "stop"] | Callable[[Alarm], object]
OnWarning = Callable[[Alarm], object]
Texts = Callable[[Any], Iterable[_chunks.Text]]


class _Judge:
    """The guards of a stream, one for each of its answers."""

    def __init__(
        self, guards: Guards | None, model: str, on_alarm: OnAlarm, on_warning: OnWarning | None, texts: Texts
    ) -> None:
        if not (callable(on_alarm) or on_alarm in ("raise", "stop")):
            raise ValueError(f"on_alarm is {on_alarm!r}; expected 'raise', 'stop' or something to call")
        self.first = (guards or Guards.recommended()).guard(model)
        self.guards: dict[object, Guard] = {}
        self.on_alarm = on_alarm
        self.on_warning = on_warning
        self.texts = texts
        self.alarm: Alarm | None = None

    def sees(self, chunk: Any) -> bool:
        """Whether the stream ends with this chunk."""
        for key, channel, text in self.texts(chunk):
            guard = self.guards.get(key)
            if guard is None:
                guard = self.guards[key] = self.first.fresh()
            alarm = guard.push(channel, text)
            if self.on_warning is not None:
                for warning in guard.warnings():
                    self.on_warning(warning)
            if alarm is not None:
                self.alarm = alarm
                return True
        return False

    def end(self, chunk: Any) -> list[Any]:
        """The chunks that come in place of the one that raised the alarm. Raises where it should."""
        assert self.alarm is not None
        if self.on_alarm == "raise":
            raise LoopError(self.alarm)
        if callable(self.on_alarm):
            self.on_alarm(self.alarm)
        last = _chunks.last(chunk)
        return [chunk] if last is None else [chunk, last]


class Watch(Generic[T]):
    """A stream that ends at a dead loop. `alarm` says why, also where an exception was renamed on its way."""

    def __init__(self, stream: Iterable[T], judge: _Judge) -> None:
        self._stream = stream
        self._judge = judge
        self._chunks = self._run()

    @property
    def alarm(self) -> Alarm | None:
        """Why the stream was ended, if it was."""
        return self._judge.alarm

    def _run(self) -> Iterator[T]:
        try:
            for chunk in self._stream:
                if self._judge.sees(chunk):
                    self._close()
                    yield from self._judge.end(chunk)
                    return
                yield chunk
        finally:
            self._close()

    def _close(self) -> None:
        """Closes the connection: nothing more is generated or paid for."""
        for thing in (self._stream, getattr(self._stream, "completion_stream", None)):
            close = getattr(thing, "close", None)
            if callable(close) and not inspect.iscoroutinefunction(close):
                with contextlib.suppress(Exception):
                    close()

    def close(self) -> None:
        """Ends the stream before its end."""
        self._chunks.close()  # type: ignore[attr-defined]
        self._close()

    def __iter__(self) -> Iterator[T]:
        return self._chunks

    def __next__(self) -> T:
        return next(self._chunks)

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncWatch(Generic[T]):
    """The same for a stream of `async for`."""

    def __init__(self, stream: AsyncIterable[T], judge: _Judge) -> None:
        self._stream = stream
        self._judge = judge
        self._chunks = self._run()

    @property
    def alarm(self) -> Alarm | None:
        """Why the stream was ended, if it was."""
        return self._judge.alarm

    async def _run(self) -> AsyncIterator[T]:
        try:
            async for chunk in self._stream:
                if self._judge.sees(chunk):
                    await self._close()
                    for end in self._judge.end(chunk):
                        yield end
                    return
                yield chunk
        finally:
            await self._close()

    async def _close(self) -> None:
        for thing in (self._stream, getattr(self._stream, "completion_stream", None)):
            close = getattr(thing, "aclose", None) or getattr(thing, "close", None)
            if callable(close):
                with contextlib.suppress(Exception):
                    done = close()
                    if inspect.isawaitable(done):
                        await done

    async def aclose(self) -> None:
        """Ends the stream before its end."""
        await self._chunks.aclose()  # type: ignore[attr-defined]
        await self._close()

    def __aiter__(self) -> AsyncIterator[T]:
        return self._chunks

    async def __anext__(self) -> T:
        return await anext(self._chunks)

    async def __aenter__(self) -> AsyncWatch[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def watch(
    stream: Iterable[T],
    guards: Guards | None = None,
    *,
    model: str = "",
    on_alarm: OnAlarm = "raise",
    on_warning: OnWarning | None = None,
    texts: Texts = _chunks.texts,
) -> Watch[T]:
    """The stream of a client, chunk by chunk, as it comes, until the model goes in circles.

    Then the connection is closed, and `on_alarm` decides: `"raise"` raises LoopError; `"stop"` gives the
    chunk, and after it one whose finish reason is `length` where the API has such; something to call is
    called with the alarm, and the stream ends as with `"stop"`. `on_warning` is called with each alarm of a
    guard whose `response` is `"warn"` or `"observe"`; the stream goes on.

    `guards`: the recommended ones where none are given. `texts`: what is new in a chunk, for chunks that
    deadloop does not know: pairs of a channel and a text, behind which of several answers.
    """
    return Watch(stream, _Judge(guards, model, on_alarm, on_warning, texts))


def awatch(
    stream: AsyncIterable[T],
    guards: Guards | None = None,
    *,
    model: str = "",
    on_alarm: OnAlarm = "raise",
    on_warning: OnWarning | None = None,
    texts: Texts = _chunks.texts,
) -> AsyncWatch[T]:
    """The same as `watch` for a stream of `async for`."""
    return AsyncWatch(stream, _Judge(guards, model, on_alarm, on_warning, texts))
