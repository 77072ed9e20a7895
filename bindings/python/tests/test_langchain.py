"""LangChain's class for OpenAI against the server that counts: by a transport, and by a callback."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import deadloop
import pytest
from deadloop.http import AsyncTransport, Transport

langchain_openai = pytest.importorskip("langchain_openai")
httpx = pytest.importorskip("httpx")

MODELS = ["loop-reasoning", "loop-answer"]


def chat(server: Any, model: str, **options: Any) -> Any:
    return langchain_openai.ChatOpenAI(
        model=model, base_url=server.url + "/v1", api_key="x", max_retries=0, **options
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_transport_sees_thinking_and_answer(server: Any, model: str) -> None:
    asked = chat(server, model, http_client=httpx.Client(transport=Transport()))
    with pytest.raises(deadloop.LoopError) as caught:
        list(asked.stream("Which road?"))
    assert caught.value.alarm.channel == model.removeprefix("loop-")
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
def test_invoke_that_streams_inside(server: Any, model: str) -> None:
    asked = chat(server, model, streaming=True, http_client=httpx.Client(transport=Transport()))
    with pytest.raises(deadloop.LoopError):
        asked.invoke("Which road?")
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
async def test_async(server: Any, model: str) -> None:
    asked = chat(server, model, http_async_client=httpx.AsyncClient(transport=AsyncTransport()))
    with pytest.raises(deadloop.LoopError):
        [chunk async for chunk in asked.astream("Which road?")]
    await server.astopped()


def test_the_transport_can_end_the_response(server: Any) -> None:
    asked = chat(server, "loop-answer", http_client=httpx.Client(transport=Transport(on_alarm="stop")))
    chunks = list(asked.stream("Which road?"))
    reasons = [chunk.response_metadata.get("finish_reason") for chunk in chunks]
    assert "length" in reasons
    server.stopped()


def test_the_callback_sees_the_answer(server: Any) -> None:
    from deadloop.integrations.langchain import LoopCallback

    with pytest.raises(deadloop.LoopError):
        list(chat(server, "loop-answer").stream("Which road?", config={"callbacks": [LoopCallback()]}))
    server.stopped()


def test_a_callback_lets_prose_pass(server: Any, prose: str) -> None:
    from deadloop.integrations.langchain import LoopCallback

    callback = LoopCallback()
    for _ in range(2):
        said = chat(server, "prose").stream("Which road?", config={"callbacks": [callback]})
        assert "".join(chunk.text for chunk in said).split() == prose.split()
    assert not callback._guards


def test_a_callback_tells_what_only_warns() -> None:
    from deadloop.integrations.langchain import LoopCallback

    guards = deadloop.Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "warn"')
    told: list[deadloop.Alarm] = []
    callback, run = LoopCallback(guards, on_warning=told.append), uuid4()
    for _ in range(100):
        callback.on_llm_new_token("Wait, let me check the roads once more. ", run_id=run)
    assert [warning.response for warning in told] == ["warn"]
