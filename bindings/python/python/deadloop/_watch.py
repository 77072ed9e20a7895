"""`watch` and `awatch`: the stream of a client through a guard."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from deadloop import _json, _options
from deadloop._alarm import Alarm, Decision
from deadloop._deadloop import Guard, Guards
from deadloop._options import OnAlarm, OnWarning, Told

T = TypeVar("T")
# Which of several answers, the channel, the text.
Text = tuple[object, str, str]
Texts = Callable[[Any], Iterable[Text]]

# Seconds from which on nothing is silence.
SILENT = 1.0


class _Judge:
    """What watches a stream: for each of its answers a guard, and a clock."""

    def __init__(self, guards: Guards | None, model: str, told: Told, texts: Texts | None, strict: bool) -> None:
        guards = guards or Guards.recommended()
        feeds = _options.RESPONSE if texts is None else (*_options.TEXT, "silence")
        _options.see(guards, feeds, "a stream that is watched", model=model, strict=strict)
        self.listens = guards.reads("silence", model)
        self.told = told
        self.texts = texts
        self.alarm: Alarm | None = None
        self._chunks = guards.chunks(model or None)
        self._first = guards.guard(model)
        self._guards: dict[object, Guard] = {}
        self._heard = time.monotonic()
        self._raised = False

    def sees(self, chunk: Any) -> bool:
        """Whether the stream ends with this chunk."""
        self._heard = time.monotonic()
        if self.texts is not None:
            pushes = (self._guard(key).push(text, channel) for key, channel, text in self.texts(chunk))
            self._raised = any(map(self._hears, pushes))
        elif isinstance(chunk, str):
            self._raised = any(map(self._hears, self._chunks.text(chunk)))
        else:
            self._raised = any(map(self._hears, self._chunks.feed(_json.of_chunk(chunk))))
        return self._raised

    def silence(self) -> bool:
        """Whether the stream ends because nothing has come for so long."""
        seconds = time.monotonic() - self._heard
        if not self.listens or seconds < SILENT:
            return False
        if self.texts is not None:
            return any(self._hears(guard.silence(seconds)) for guard in self._guards.values())
        return any(map(self._hears, self._chunks.silence(seconds)))

    def _guard(self, key: object) -> Guard:
        guard = self._guards.get(key)
        if guard is None:
            guard = self._guards[key] = self._first.fresh()
        return guard

    def _hears(self, decision: Decision) -> bool:
        self.alarm = self.told.hears(decision)
        return self.alarm is not None

    def over(self) -> None:
        """The stream has ended: what was held back until then is judged, unless it ended in silence."""
        if self.alarm is None and self.texts is None:
            any(map(self._hears, self._chunks.end()))

    def end(self, chunk: Any) -> list[Any]:
        """The chunks that come instead of more: the one that raised the alarm, and one that ends the stream like `chunk`.

        Raises where it should.
        """
        assert self.alarm is not None
        self.told.ends(self.alarm)
        last = _json.last(chunk)
        return [end for end, there in ((chunk, self._raised), (last, last is not None)) if there]


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
        judge, chunk = self._judge, None
        try:
            for chunk in self._stream:
                if judge.silence() or judge.sees(chunk):
                    break
                yield chunk
            else:
                judge.over()
            if judge.alarm is not None:
                self._close()
                yield from judge.end(chunk)
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


async def ticking(waited: AsyncIterator[T], tick: Callable[[], bool]) -> AsyncIterator[T]:
    """What comes of an iterator, while each second in which nothing comes is told; it ends where that says so.

    Outside of asyncio nothing can be told while it waits.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        async for item in waited:
            yield item
        return

    async def step() -> list[T]:
        try:
            return [await anext(waited)]
        except StopAsyncIteration:
            return []

    while True:
        task = asyncio.ensure_future(step())
        try:
            while not (await asyncio.wait({task}, timeout=SILENT))[0]:
                if tick():
                    return
            items = task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if not items:
            return
        yield items[0]


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
        judge, chunk = self._judge, None
        stream = aiter(self._stream)
        chunks = ticking(stream, judge.silence) if judge.listens else stream
        try:
            async for chunk in chunks:
                if judge.silence() or judge.sees(chunk):
                    break
                yield chunk
            else:
                judge.over()
            if judge.alarm is not None:
                await self._close()
                for end in judge.end(chunk):
                    yield end
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
    on_refuse: OnWarning | None = None,
    on_warning: OnWarning | None = None,
    texts: Texts | None = None,
    strict: bool = False,
) -> Watch[T]:
    """The stream of a client, chunk by chunk, as it comes, until the model goes in circles.

    At an alarm that stops, the connection is closed, and `on_alarm` decides what comes. A refusal ends nothing: who runs the
    call has to leave it.

    Args:
        stream: Chunks of OpenAI (chat, completions, responses), Anthropic, LiteLLM, LangChain, Mistral, Ollama, or plain texts.
        guards: The recommended ones where none are given.
        model: Whose guard watches; else that of the first name that the chunks give.
        on_alarm: `"raise"` raises LoopError; `"stop"` gives the chunk, and after it one whose finish reason is `length` where the
            API has such; something to call is called with the alarm, and the stream ends as with `"stop"`.
        on_refuse: Called with each alarm that refuses a call; without it `on_warning` is.
        on_warning: Called with each alarm of a guard whose `response` is `"warn"` or `"observe"`; the stream goes on.
        texts: What is new in a chunk, for chunks that deadloop does not know: which of several answers, the channel, the text.
        strict: Whether settings with a guard that sees nothing here raise ValueError; else a warning names it, once.

    Returns:
        The stream. Its `alarm` says why it was ended.
    """
    return Watch(stream, _Judge(guards, model, Told(on_alarm, on_refuse, on_warning), texts, strict))


def awatch(
    stream: AsyncIterable[T],
    guards: Guards | None = None,
    *,
    model: str = "",
    on_alarm: OnAlarm = "raise",
    on_refuse: OnWarning | None = None,
    on_warning: OnWarning | None = None,
    texts: Texts | None = None,
    strict: bool = False,
) -> AsyncWatch[T]:
    """The same as `watch` for a stream of `async for`. A silence is noticed while it lasts."""
    return AsyncWatch(stream, _Judge(guards, model, Told(on_alarm, on_refuse, on_warning), texts, strict))
