"""The stopping criterion of transformers: with the real thing where it is installed, and how a row is read without."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import deadloop
import pytest

SENTENCE = "Wait, let me check the roads once more. "


class Bytes:
    """A tokenizer whose tokens are bytes: most chars of the texts below are several."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return bytes(ids).decode("utf-8", "replace")


class Ids(list[list[int]]):
    """As much of a tensor as the criterion asks for."""

    device = "cpu"

    def tolist(self) -> list[list[int]]:
        return list(self)


@pytest.fixture
def criteria(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module over stand-ins for torch and transformers, which are 5 GB."""
    torch, transformers = types.ModuleType("torch"), types.ModuleType("transformers")
    torch.tensor = lambda over, dtype, device: over  # type: ignore[attr-defined]
    torch.bool = bool  # type: ignore[attr-defined]
    transformers.StoppingCriteria = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    name = "deadloop.integrations.transformers"
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def test_a_row_ends_at_its_loop_and_the_others_go_on(criteria: Any, prose: str) -> None:
    prompt = b"ask: "
    rows = [prompt + (SENTENCE * 30).encode(), prompt + prose.encode(), prompt + ("思考😀" * 150).encode()]
    loop = criteria.LoopCriteria(Bytes(), len(prompt))
    over = [False] * 3
    for end in range(len(prompt) + 1, 1200):
        over = loop(Ids([list(row[:end]) for row in rows]), None)
    assert over == [True, False, True]
    sentence, calm, pair = loop.alarms
    assert calm is None and sentence.unit == SENTENCE
    wanted = deadloop.Guards.recommended().guard().push("answer", "思考😀" * 150)
    assert wanted is not None and (pair.exact, pair.unit) == (wanted.exact, wanted.unit)


def test_a_row_goes_on_where_a_guard_only_warns(criteria: Any) -> None:
    guards = deadloop.Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "warn"')
    told: list[deadloop.Alarm] = []
    loop = criteria.LoopCriteria(Bytes(), 0, guards, on_warning=told.append)
    row = list((SENTENCE * 30).encode())
    assert not any(loop(Ids([row[:end]]), None)[0] for end in range(1, len(row)))
    assert [warning.response for warning in told] == ["warn"] and loop.alarms == [None]


def test_the_real_transformers_stop_a_tiny_model() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from deadloop.integrations.transformers import LoopCriteria

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=256, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.LlamaForCausalLM(config).eval()
    prompt = torch.tensor([[65, 66, 67]])
    loop = LoopCriteria(Bytes(), 3)
    # A model of one layer that is asked for the likeliest byte falls into a loop at once.
    out = model.generate(prompt, do_sample=False, max_new_tokens=2000, stopping_criteria=[loop], pad_token_id=0)
    assert loop.alarms[0] is not None and out.shape[1] < 2000
