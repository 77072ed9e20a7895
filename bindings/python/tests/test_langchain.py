"""LangChain's class for OpenAI against the server that counts: by a transport."""

from __future__ import annotations

from typing import Any

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
