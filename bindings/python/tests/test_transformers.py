"""How the stopping criterion of transformers reads a row: over stand-ins; `test_torch.py` has the real thing."""

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
    wanted = deadloop.Guards.recommended().guard().push("思考😀" * 150, "answer").alarm
    assert wanted is not None and (pair.exact, pair.unit) == (wanted.exact, wanted.unit)


def test_a_row_goes_on_where_a_guard_only_warns(criteria: Any) -> None:
    guards = deadloop.Guards.parse('[[guard]]\ndetector = "periodic"\nresponse = "warn"')
    told: list[deadloop.Alarm] = []
    loop = criteria.LoopCriteria(Bytes(), 0, guards, on_warning=told.append)
    row = list((SENTENCE * 30).encode())
    assert not any(loop(Ids([row[:end]]), None)[0] for end in range(1, len(row)))
    assert [warning.response for warning in told] == ["warn"] and loop.alarms == [None]
