"""Real clients through `deadloop proxy` to the server that counts: needs the program, as $DEADLOOP or on the path."""

from __future__ import annotations

import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kit import needs_program, program

openai = pytest.importorskip("openai")
pytestmark = needs_program

MODELS = ["loop-reasoning", "loop-answer"]
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Which road?"}], "stream": True}


@contextmanager
def proxying(server: Any, *options: str) -> Iterator[tuple[str, str]]:
    """A proxy before the server; its address, and that of its counters."""
    command = [str(program), "proxy", "--listen", "127.0.0.1:0", "--upstream", server.url, "--metrics", "127.0.0.1:0"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        while "listening at " not in line:
            assert line, "the proxy ended"
            line = process.stderr.readline()
        metrics = process.stderr.readline().split("metrics at ")[1].strip()
        yield line.split("listening at ")[1].strip(), metrics
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(30) == 0, said


@pytest.fixture(scope="module")
def running(server: Any) -> Iterator[tuple[str, str]]:
    with proxying(server) as at:
        yield at


@pytest.fixture
def proxy(running: tuple[str, str]) -> str:
    return running[0]


def client(proxy: str) -> Any:
    return openai.OpenAI(base_url=proxy + "/v1", api_key="x", max_retries=0)


@pytest.mark.parametrize("model", MODELS)
def test_openai_sees_an_answer_that_was_too_long(server: Any, proxy: str, model: str) -> None:
    chunks = list(client(proxy).chat.completions.create(model=model, **ASK))
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:]] == [None, "length"]
    assert len(chunks) < 20
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
def test_the_responses_api_sees_an_incomplete_response(server: Any, proxy: str, model: str) -> None:
    events = list(client(proxy).responses.create(model=model, input="Which road?", stream=True))
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
def test_anthropic_sees_a_message_that_was_too_long(server: Any, proxy: str, model: str) -> None:
    anthropic = pytest.importorskip("anthropic")
    asked = anthropic.Anthropic(base_url=proxy, api_key="x", max_retries=0)
    ask = {"messages": ASK["messages"], "max_tokens": 9999}
    with asked.messages.stream(model=model, **ask) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "max_tokens" and len(message.content) == 1
    server.stopped()


async def test_many_at_once_are_stopped_and_prose_is_not(server: Any, proxy: str, prose: str) -> None:
    import asyncio

    asked = openai.AsyncOpenAI(base_url=proxy + "/v1", api_key="x", max_retries=0)

    async def said(model: str) -> tuple[str, str | None]:
        stream = await asked.chat.completions.create(model=model, **ASK)
        chunks = [chunk async for chunk in stream]
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks), chunks[-1].choices[0].finish_reason

    both = await asyncio.gather(*(said(["prose", "loop-answer"][i % 2]) for i in range(20)))
    for text, reason in both[::2]:
        assert text.split() == prose.split() and reason == "stop"
    assert [reason for _, reason in both[1::2]] == ["length"] * 10


def test_a_client_that_goes_ends_the_server(server: Any, proxy: str) -> None:
    stream = client(proxy).chat.completions.create(model="loop-answer", **ASK)
    next(iter(stream))
    stream.close()
    server.stopped()


def test_a_server_that_dies_is_no_whole_answer(server: Any, proxy: str) -> None:
    """As without the proxy: what had come, and then an error, and no finish reason that nobody gave."""
    for url in (server.url, proxy):
        said = []
        with pytest.raises(Exception, match="(?i)incomplete|closed|connection"):
            for chunk in client(url).chat.completions.create(model="dies", **ASK):
                assert chunk.choices[0].finish_reason is None
                said.append(chunk)
        assert len(said) == 30
        assert server.last()["sent"] == 30


def alarms(metrics: str) -> int:
    """How many the proxy has counted."""
    with urllib.request.urlopen(metrics, timeout=30) as response:
        text = response.read().decode()
    counts = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return sum(int(n) for name, n in counts.items() if name.startswith("deadloop_alarms"))


def test_the_counters_say_what_happened(proxy: str, running: tuple[str, str]) -> None:
    before = alarms(running[1])
    for model in [*MODELS, "prose"]:
        list(client(proxy).chat.completions.create(model=model, **ASK))
    assert alarms(running[1]) == before + 2


REFUSES = """
[[guard]]
detector = "duplicate"
response = "refuse"
[[guard]]
detector = "periodic"
channel = "arguments"
response = "refuse"
"""


@pytest.fixture(scope="module")
def refusing(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A proxy that refuses the third equal call, and arguments that loop."""
    settings: Path = tmp_path_factory.mktemp("refusing") / "settings.toml"
    settings.write_text(REFUSES)
    with proxying(server, "--settings", str(settings)) as at:
        yield at


def test_a_refused_call_ends_the_response(refusing: tuple[str, str]) -> None:
    """As a response that was too long; the call that was refused is the last that may have come."""
    before = alarms(refusing[1])
    chunks = list(client(refusing[0]).chat.completions.create(model="calls", **ASK))
    ids = [call.id for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or [] if call.id]
    assert ids[:2] == ["call_0", "call_1"] and "call_3" not in ids
    assert chunks[-1].choices[0].finish_reason == "length"
    events = list(client(refusing[0]).responses.create(model="calls-loop", input="Which road?", stream=True))
    assert events[-1].type == "response.incomplete"
    anthropic = pytest.importorskip("anthropic")
    asked = anthropic.Anthropic(base_url=refusing[0], api_key="x", max_retries=0)
    with asked.messages.stream(model="calls", messages=ASK["messages"], max_tokens=99) as stream:
        assert stream.get_final_message().stop_reason == "max_tokens"
    assert alarms(refusing[1]) == before + 3
