"""A scan of texts that are there already."""

from __future__ import annotations

from typing import Any

import deadloop
import pytest

LOOP = "Wait, let me check the roads once more. " * 50
ROWS = [
    {"text": "It is four.", "thinking": None, "model": "a"},
    {"text": LOOP, "thinking": "Let me see.", "model": "a"},
    {"text": None, "thinking": LOOP, "model": "b"},
    {"text": f"<think>{LOOP}</think>4", "thinking": None, "model": None},
]
CHANNELS = [None, "answer", "reasoning", "reasoning"]


def test_rows_of_any_iterable() -> None:
    found = deadloop.scan(ROWS, reasoning="thinking", model="model")
    assert [row["channel"] for row in found] == CHANNELS
    assert set(found[0].values()) == {None} and (found[1]["exact"], found[1]["period"], found[1]["copies"]) == (200, 40, 5)
    assert [row["kind"] for row in deadloop.scan(iter([LOOP, "x"]))] == ["paragraph", None]
    assert deadloop.scan([LOOP], text=None, reasoning="x")[0]["channel"] == "reasoning"
    assert deadloop.scan([]) == []


def test_the_same_as_by_hand() -> None:
    texts = [LOOP[:n] for n in range(0, 400, 7)] + ["1. 分析需求\n2. 设计方案😀\n" * n for n in range(0, 90, 9)]
    guards = deadloop.Guards.recommended()
    for row, text in zip(deadloop.scan(texts), texts, strict=True):
        alarm = guards.guard().push(text, "answer").alarm
        wanted = [None, None] if alarm is None else [alarm.exact, alarm.kind]
        assert [row["exact"], row["kind"]] == wanted, text


def test_settings_by_model_and_alarms_that_only_warn() -> None:
    text = '[[guard]]\ndetector = "periodic"\nresponse = "warn"\n[[model]]\nmatch = "b*"\n[[model.guard]]\ndetector = "checkpoint"\n'
    guards = deadloop.Guards(text)
    found = deadloop.scan([{"text": LOOP * 9, "model": model} for model in ("a", "b1", None)], model="model", settings=guards)
    assert [(row["detector"], row["response"]) for row in found] == [("periodic", "warn"), ("checkpoint", "stop"), ("periodic", "warn")]


def test_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    deadloop.scan(["x"] * 10_000, progress=lambda done, of: told.append((done, of)))
    assert told == [(4096, 10_000), (8192, 10_000), (10_000, 10_000)]
    told.clear()
    deadloop.scan(iter(["x"]), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, None)]


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    deadloop.scan(["x"] * 3, progress=True)
    assert "scan: 3 of 3 (100%) rows" in capsys.readouterr().err


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=[7, 8, 9, 3])
    found = deadloop.scan(frame, reasoning="thinking", model="model")
    assert list(found.index) == [7, 8, 9, 3] and found["channel"].tolist() == CHANNELS
    assert str(found["exact"].dtype) == "Int64" and found["exact"].isna().tolist() == [True, False, False, False]
    assert len(frame.join(found)) == 4


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    found = deadloop.scan(frame, reasoning="thinking", model="model")
    assert found["channel"].to_list() == CHANNELS and found.schema["exact"] == polars.Int64
    assert frame.hstack(found).height == 4
    with pytest.raises(TypeError, match="collect"):
        deadloop.scan(frame.lazy())


def test_arrow() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pylist(ROWS)
    found = deadloop.scan(table, reasoning="thinking", model="model")
    assert type(found) is type(table) and found.column("channel").to_pylist() == CHANNELS
    batch = table.to_batches()[0]
    assert type(deadloop.scan(batch, reasoning="thinking")) is type(batch)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_that_is_not_there_is_named(kind: str) -> None:
    module: Any = pytest.importorskip(kind)
    data = module.table({"answer": ["x"]}) if kind == "pyarrow" else module.DataFrame({"answer": ["x"]})
    with pytest.raises(ValueError, match="no column 'text'; expected one of: answer"):
        deadloop.scan(data)
    with pytest.raises(ValueError, match="name a column"):
        deadloop.scan(data, text=None)
