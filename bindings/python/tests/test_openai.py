"""The real client of OpenAI (2 is on httpx, 3 on httpx2) against the server that counts."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import deadloop
import pytest
from deadloop.http import AsyncTransport, Transport

openai = pytest.importorskip("openai")
# The library that this version is made on.
http = importlib.import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

MODELS = ["loop-reasoning", "loop-answer"]
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Which road?"}], "stream": True}


def client(server: Any, transport: Any = None) -> Any:
    inner = http.Client(transport=transport) if transport else None
    return openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0, http_client=inner)


def async_client(server: Any, transport: Any = None) -> Any:
    inner = http.AsyncClient(transport=transport) if transport else None
    return openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0, http_client=inner)


@pytest.mark.parametrize("model", MODELS)
def test_watch_raises_and_closes(server: Any, model: str) -> None:
    stream = client(server).chat.completions.create(model=model, **ASK)
    watched = deadloop.watch(stream, model=model)
    seen = 0
    with pytest.raises(deadloop.LoopError) as caught:
        for _ in watched:
            seen += 1
    assert caught.value.alarm == watched.alarm and watched.alarm is not None
    assert watched.alarm.channel == model.removeprefix("loop-")
    assert seen < 20
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
def test_watch_can_stop_with_a_reason(server: Any, model: str) -> None:
    told: list[deadloop.Alarm] = []
    stream = client(server).chat.completions.create(model=model, **ASK)
    chunks = list(deadloop.watch(stream, on_alarm=told.append))
    assert [c.choices[0].finish_reason for c in chunks[-2:]] == [None, "length"]
    assert not chunks[-1].choices[0].delta.content
    assert len(told) == 1
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
async def test_awatch(server: Any, model: str) -> None:
    for on_alarm in ("raise", "stop"):
        stream = await async_client(server).chat.completions.create(model=model, **ASK)
        watched = deadloop.awatch(stream, model=model, on_alarm=on_alarm)
        try:
            last = [chunk async for chunk in watched][-1]
            assert on_alarm == "stop" and last.choices[0].finish_reason == "length"
        except deadloop.LoopError:
            assert on_alarm == "raise"
        assert watched.alarm is not None
        await server.astopped()


@pytest.mark.parametrize("model", MODELS)
def test_transport_raises_through_the_client(server: Any, model: str) -> None:
    stream = client(server, Transport()).chat.completions.create(model=model, **ASK)
    with pytest.raises(deadloop.LoopError) as caught:
        list(stream)
    assert caught.value.alarm.channel == model.removeprefix("loop-")
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
def test_transport_can_end_the_response(server: Any, model: str) -> None:
    transport = Transport(on_alarm="stop")
    chunks = list(client(server, transport).chat.completions.create(model=model, **ASK))
    assert chunks[-1].choices[0].finish_reason == "length" and chunks[-1].model == model
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
async def test_async_transport(server: Any, model: str) -> None:
    stream = await async_client(server, AsyncTransport()).chat.completions.create(model=model, **ASK)
    with pytest.raises(deadloop.LoopError):
        [chunk async for chunk in stream]
    await server.astopped()
    transport = AsyncTransport(on_alarm="stop")
    stream = await async_client(server, transport).chat.completions.create(model=model, **ASK)
    assert [chunk async for chunk in stream][-1].choices[0].finish_reason == "length"
    await server.astopped()


@pytest.mark.parametrize("model", MODELS)
def test_the_responses_api(server: Any, model: str) -> None:
    stream = client(server).responses.create(model=model, input="Which road?", stream=True)
    with pytest.raises(deadloop.LoopError):
        list(deadloop.watch(stream))
    server.stopped()
    transport = Transport(on_alarm="stop")
    events = list(client(server, transport).responses.create(model=model, input="Which road?", stream=True))
    assert events[-1].type == "response.incomplete" and events[-1].response.status == "incomplete"
    server.stopped()


def test_prose_passes_whole(server: Any, prose: str) -> None:
    for transport in (None, Transport(), Transport(on_alarm="stop")):
        stream = client(server, transport).chat.completions.create(model="prose", **ASK)
        chunks = list(deadloop.watch(stream))
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert said.split() == prose.split() and chunks[-1].choices[0].finish_reason == "stop"
        assert not server.last()["gone"]


def test_a_guard_for_each_of_several_answers() -> None:
    """Two answers that say the same in turn are no loop; each for itself is watched."""

    def chunk(index: int, text: str) -> dict[str, Any]:
        return {"choices": [{"index": index, "delta": {"content": text}}]}

    sentence = "Wait, let me check the roads once more. "
    calm = [chunk(i, sentence) for _ in range(4) for i in range(2)]
    assert len(list(deadloop.watch(calm))) == 8
    with pytest.raises(deadloop.LoopError):
        list(deadloop.watch([*calm, chunk(1, sentence)]))


def test_what_is_asked_wrongly_is_named() -> None:
    with pytest.raises(ValueError, match="on_alarm is 'halt'; expected 'raise', 'stop'"):
        deadloop.watch([], on_alarm="halt")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_alarm"):
        Transport(on_alarm="halt")  # type: ignore[arg-type]


def test_a_stream_that_is_left_early_is_closed(server: Any) -> None:
    with deadloop.watch(client(server).chat.completions.create(model="prose", **ASK)) as watched:
        next(watched)
    assert server.last()["sent"] < 80


CUT = b'data: {"choices":[{"index":0,"delta":{"content":"It is fo"}}]}\n\n'


class Cut(http.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield CUT


@pytest.mark.parametrize("on_alarm", ["raise", "stop"])
def test_a_response_that_is_cut_is_judged_at_its_end(on_alarm: Any) -> None:
    guards = deadloop.Guards('[[guard]]\ndetector = "ending"\n')
    inner = http.MockTransport(lambda _: http.Response(200, headers={"content-type": "text/event-stream"}, stream=Cut()))
    transport = Transport(guards, inner=inner, on_alarm=on_alarm, strict=True)
    with http.Client(transport=transport).stream("POST", "http://x/", json={}) as response:
        if on_alarm == "raise":
            with pytest.raises(deadloop.LoopError) as caught:
                response.read()
            assert caught.value.alarm.kind == "cut"
        else:
            assert response.read().startswith(CUT) and len(response.content) > len(CUT)


def test_the_end_of_a_run_is_told() -> None:
    run = deadloop.agents.Run(deadloop.Guards('[[guard]]\ndetector = "ending"\n'), strict=True)
    run.says("It is fo")
    with pytest.raises(deadloop.LoopError):
        run.finish("error")
