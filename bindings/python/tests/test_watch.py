"""What `watch`, `awatch` and the transports see besides text, and what each response of a guard is there."""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import deadloop
import pytest
from deadloop.http import AsyncTransport, Transport

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
http = importlib.import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

SENTENCE = "Wait, let me check the roads once more. "
ARGUMENTS = deadloop.Guards('[[guard]]\ndetector = "periodic"\nchannel = "arguments"')
STALL = '[[guard]]\ndetector = "stall"\n[guard.params]\nidle_ms = 1000\nfirst_ms = 60000\n'
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Which road?"}], "stream": True}


def client(server: Any, transport: Any = None) -> Any:
    inner = http.Client(transport=transport) if transport else None
    return openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0, http_client=inner)


def text(answer: str, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": {"content": answer, **delta}}]}


def test_the_arguments_of_a_call_of_each_api(server: Any) -> None:
    asked = client(server)
    model = "loop-arguments"
    other = anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0)
    for stream in (
        lambda: asked.chat.completions.create(model=model, **ASK),
        lambda: asked.responses.create(model=model, input="Which road?", stream=True),
        lambda: other.messages.create(model=model, max_tokens=9999, **ASK),
    ):
        with pytest.raises(deadloop.LoopError) as caught:
            list(deadloop.watch(stream(), ARGUMENTS))
        assert caught.value.alarm.channel == "arguments"
        server.stopped()
    with pytest.raises(deadloop.LoopError):
        list(client(server, Transport(ARGUMENTS)).chat.completions.create(model=model, **ASK))
    server.stopped()


def test_parallel_calls_are_texts_of_their_own() -> None:
    """Two calls whose pieces come in turn are no loop, and each begins anew."""

    def chunk(index: int, piece: str) -> dict[str, Any]:
        call = {"index": index, "id": f"c{index}", "function": {"name": "write", "arguments": piece}}
        return text("", tool_calls=[call])

    calm = [chunk(i, SENTENCE) for _ in range(4) for i in range(2)]
    assert len(list(deadloop.watch(calm, ARGUMENTS))) == 8
    with pytest.raises(deadloop.LoopError):
        list(deadloop.watch([chunk(0, SENTENCE)] * 50, ARGUMENTS))


def test_calls_are_calls() -> None:
    guards = deadloop.Guards('[[guard]]\ndetector = "duplicate"\nresponse = "refuse"\n[guard.params]\nn = 3')
    calls = [{"index": i, "id": f"c{i}", "function": {"name": "ls", "arguments": "{}"}} for i in range(4)]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    for listener in ("on_refuse", "on_warning"):
        told: list[deadloop.Alarm] = []
        chunks = [text("", tool_calls=calls), end]
        watched = deadloop.watch(chunks, guards, **{listener: told.append})  # type: ignore[arg-type]
        assert list(watched) == chunks and watched.alarm is None
        assert {alarm.response for alarm in told} == {"refuse"}


@pytest.mark.parametrize(("response", "ends"), [("stop", True), ("refuse", False), ("warn", False), ("observe", False)])
def test_each_response_of_a_guard(server: Any, response: str, ends: bool) -> None:
    guards = deadloop.Guards(f'[[guard]]\ndetector = "periodic"\nchannel = "answer"\nresponse = "{response}"')
    told: list[str] = []
    chunks = [text(SENTENCE)] * 50
    watched = deadloop.watch(chunks, guards, on_alarm="stop", on_warning=lambda alarm: told.append(alarm.response))
    assert (len(list(watched)) < 50, watched.alarm is not None, told) == (ends, ends, [] if ends else [response])
    told.clear()
    transport = Transport(guards, on_alarm="stop", on_warning=lambda alarm: told.append(alarm.response))
    stream = client(server, transport).chat.completions.create(model="prose", **ASK)
    assert list(stream)[-1].choices[0].finish_reason == "stop" and told == []


def test_the_first_name_chooses_the_guard() -> None:
    """An alias and a dated name are one response."""
    chunks = [{**text(SENTENCE), "model": f"m-{i % 2}"} for i in range(100)]
    with pytest.raises(deadloop.LoopError):
        list(deadloop.watch(chunks))


def test_thinking_in_tags_and_in_lists() -> None:
    for first, piece in (
        ([text("<think>")], text(SENTENCE)),
        ([], text([{"type": "thinking", "thinking": [{"type": "text", "text": SENTENCE}]}])),  # type: ignore[arg-type]
    ):
        with pytest.raises(deadloop.LoopError) as caught:
            list(deadloop.watch([*first, *[piece] * 50]))
        assert caught.value.alarm.channel == "reasoning"


def test_what_is_no_chunk_is_left_alone() -> None:
    odd = [None, 3, [1], {"choices": 3}, {"x": float("nan")}, SimpleNamespace(type=3), object(), "", {"choices": [{"delta": {"content": "\ud83d"}}]}]
    assert len(list(deadloop.watch(odd))) == len(odd)


def test_the_same_as_by_hand() -> None:
    """Text, thinking and calls as chunks of OpenAI have the alarm of the same events that are pushed."""
    settings = '[[guard]]\ndetector = "periodic"\n[[guard]]\ndetector = "duplicate"\n[guard.params]\nn = 5\n'
    guards = deadloop.Guards(settings)
    for seed in range(40):
        chunks, guard, wanted = [], guards.guard(), None
        for step in range(60):
            kind = (seed * 7 + step * step * (seed + 1)) % 5
            piece = SENTENCE if kind < 3 else f"So {step}. "
            if kind == 4:
                call = {"index": step, "id": f"c{step}", "function": {"name": "ls", "arguments": "{}"}}
                chunks.append(text("", tool_calls=[call]))
                pushed = guard.call("ls", "{}", f"c{step}")
            else:
                channel = "reasoning" if seed % 2 else "answer"
                chunks.append(text("", reasoning_content=piece) if seed % 2 else text(piece))
                pushed = guard.push(piece, channel)
            wanted = wanted or pushed.alarm
        watched = deadloop.watch(chunks, guards, on_alarm="stop")
        list(watched)
        found = watched.alarm
        assert (found and (found.detector, found.channel, found.exact)) == (wanted and (wanted.detector, wanted.channel, wanted.exact)), seed


def test_a_silence_is_noticed_when_the_next_chunk_comes(server: Any) -> None:
    guards = deadloop.Guards(STALL)
    with pytest.raises(deadloop.LoopError) as caught:
        list(deadloop.watch(client(server).chat.completions.create(model="stalls", **ASK), guards))
    assert caught.value.alarm.kind == "stall"
    with pytest.raises(deadloop.LoopError):
        list(client(server, Transport(guards)).chat.completions.create(model="stalls", **ASK))
    told: list[deadloop.Alarm] = []
    warns = deadloop.Guards(STALL.replace('"stall"', '"stall"\nresponse = "warn"'))
    stream = client(server).chat.completions.create(model="stalls", **ASK)
    assert list(deadloop.watch(stream, warns, on_warning=told.append))[-1].choices[0].finish_reason == "stop"
    assert [alarm.kind for alarm in told] == ["stall"]


async def test_a_silence_is_noticed_while_it_lasts(server: Any) -> None:
    guards = deadloop.Guards(STALL)
    asked = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    stream = await asked.chat.completions.create(model="stalls", **ASK)
    with pytest.raises(deadloop.LoopError) as caught:
        [chunk async for chunk in deadloop.awatch(stream, guards)]
    assert caught.value.alarm.kind == "stall"
    inner = http.AsyncClient(transport=AsyncTransport(guards))
    guarded = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0, http_client=inner)
    with pytest.raises(deadloop.LoopError):
        [chunk async for chunk in await guarded.chat.completions.create(model="stalls", **ASK)]

    async def never() -> AsyncIterator[Any]:
        yield text("So. ")
        await asyncio.sleep(60)

    start = time.monotonic()
    watched = deadloop.awatch(never(), guards, on_alarm="stop")
    chunks = [chunk async for chunk in watched]
    assert time.monotonic() - start < 10 and watched.alarm is not None
    assert [chunk["choices"][0].get("finish_reason") for chunk in chunks] == [None, "length"]


async def test_a_watch_that_is_cancelled_ends_what_it_waits_for() -> None:
    ended = []

    async def never() -> AsyncIterator[Any]:
        try:
            yield "So. "
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def read() -> None:
        async for _ in deadloop.awatch(never(), deadloop.Guards(STALL.replace("1000", "30000"))):
            pass

    task = asyncio.ensure_future(read())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


def test_a_guarded_response_has_no_length() -> None:
    """What is cut is shorter than its server said."""
    event = ("data: " + json.dumps(text(SENTENCE)) + "\n\n").encode()

    class Inner:
        def handle_request(self, request: Any) -> Any:
            headers = {"content-type": "text/event-stream", "content-length": str(len(event) * 100)}

            class Body(http.SyncByteStream):  # type: ignore[misc, name-defined]
                def __iter__(self) -> Iterator[bytes]:
                    return iter([event] * 100)

            return http.Response(200, headers=headers, stream=Body())

        def close(self) -> None:
            """There is no connection."""

    with http.Client(transport=Transport(inner=Inner(), on_alarm="stop")) as asked:
        response = asked.post("http://127.0.0.1/v1/chat/completions", json={"model": "m"})
    assert "content-length" not in response.headers and len(response.content) < len(event) * 20
