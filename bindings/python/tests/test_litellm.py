"""LiteLLM against the server that counts: as a library, and its proxy as a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for prices
litellm = pytest.importorskip("litellm")
openai = pytest.importorskip("openai")

MODELS = ["loop-reasoning", "loop-answer"]
KEY = "sk-deadloop-only-for-this-test"


def ask(server: Any, model: str) -> dict[str, Any]:
    return {
        "model": "openai/" + model,
        "messages": [{"role": "user", "content": "Which road?"}],
        "api_base": server.url + "/v1",
        "api_key": "x",
        "stream": True,
        "num_retries": 0,
    }


@pytest.fixture(scope="module", autouse=True)
def imported(server: Any) -> None:
    """LiteLLM imports much of itself at the first call, while the server goes on sending."""
    list(litellm.completion(**ask(server, "prose")))


@pytest.mark.parametrize("model", MODELS)
def test_watch(server: Any, model: str) -> None:
    with pytest.raises(deadloop.LoopError):
        list(deadloop.watch(litellm.completion(**ask(server, model))))
    server.stopped()


@pytest.mark.parametrize("model", MODELS)
async def test_awatch(server: Any, model: str) -> None:
    stream = await litellm.acompletion(**ask(server, model))
    chunks = [chunk async for chunk in deadloop.awatch(stream, on_alarm="stop")]
    assert chunks[-1].choices[0].finish_reason == "length"
    await server.astopped()


def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def proxy(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "deadloop_guardrail.py").write_text("from deadloop.integrations.litellm import Guardrail\n")
    models = "".join(
        f"  - model_name: {model}\n    litellm_params: "
        f"{{model: openai/{model}, api_base: '{server.url}/v1', api_key: x}}\n"
        for model in [*MODELS, "prose"]
    )
    config = textwrap.dedent("""\
        guardrails:
          - guardrail_name: deadloop
            litellm_params:
              guardrail: deadloop_guardrail.Guardrail
              mode: post_call
              default_on: true
        """)
    (folder / "config.yaml").write_text(f"model_list:\n{models}{config}")
    free = port()
    program = Path(sys.executable).with_name("litellm")
    command = [program, "--config", "config.yaml", "--port", str(free), "--host", "127.0.0.1"]
    environment = os.environ | {"LITELLM_MASTER_KEY": KEY, "PYTHONUNBUFFERED": "1"}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{free}"
        wait(url, process, folder / "log")
        said(url, "prose")  # imports what the proxy needs for its first response, before anything is counted
        yield url
    finally:
        process.terminate()
        process.wait(30)


def wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the proxy answers: it takes some ten seconds to be imported, and beside other work minutes."""
    end = time.monotonic() + 400
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(url + "/health/liveliness", timeout=5)
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the proxy did not come up:\n" + log.read_text()[-3000:])


def said(proxy: str, model: str) -> list[Any]:
    """The chunks that come through the proxy."""
    client = openai.OpenAI(base_url=proxy, api_key=KEY, max_retries=0, timeout=60)
    messages = [{"role": "user", "content": "Which road?"}]
    return list(client.chat.completions.create(model=model, messages=messages, stream=True))


@pytest.mark.parametrize("model", MODELS)
def test_the_proxy_ends_a_loop(server: Any, proxy: str, model: str) -> None:
    assert said(proxy, model)[-1].choices[0].finish_reason == "length"
    server.stopped()


def test_the_proxy_lets_prose_pass(server: Any, proxy: str, prose: str) -> None:
    chunks = said(proxy, "prose")
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.split() == prose.split() and chunks[-1].choices[0].finish_reason == "stop"


async def test_the_guardrail_logs_what_only_observes(caplog: pytest.LogCaptureFixture) -> None:
    from deadloop.integrations.litellm import Guardrail

    async def response() -> AsyncIterator[str]:
        for _ in range(100):
            yield "Wait, let me check the roads once more. "

    guards = deadloop.Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "observe"')
    hook = Guardrail(guards).async_post_call_streaming_iterator_hook
    passed = [chunk async for chunk in hook(None, response(), {"model": "m"})]
    assert len(passed) == 100
    assert [record.getMessage()[:12] for record in caplog.records] == ["m: observe: "]
