"""A plan: what all its settings say of a transcript is what each of them says as a live guard."""

from __future__ import annotations

import json
from typing import Any

import deadloop
import pytest

COPIES, CHARS = [3, 5, 8], [100, 400]
GRID = f'[[guard]]\ndetector = "periodic"\n[guard.params]\nmin_copies = {COPIES}\nmin_chars = {CHARS}\n'
SENTENCE = "Wait, let me check the roads once more. "


def line(name: str, text: str) -> str:
    return json.dumps({"id": name, "model": "m", "text": text}, ensure_ascii=False)


def stop_of(decided: dict[str, Any], at: tuple[int, ...]) -> int | None:
    """Where the cell at these places of the axes alarms."""
    for region in decided["regions"]:
        if all(lo <= i < hi for lo, i, hi in zip(region["lo"], at, region["hi"], strict=True)):
            return int(decided["stops"][region["stop"]]["exact"]["seen"]["answer"])
    return None


def test_records_are_what_live_guards_say(prose: str) -> None:
    plan = deadloop.Plan(GRID)
    assert len(plan) == 6 and len({plan.setting(cell) for cell in range(6)}) == 6
    texts = [prose, prose + SENTENCE * 6, SENTENCE * 40, "思考" * 300]
    records = [json.loads(record) for record in plan.records([line(f"t{i}", text) for i, text in enumerate(texts)])]
    alarms = 0
    for text, record in zip(texts, records, strict=True):
        (decided,) = record["decided"]
        assert record["case"]["truth"] is None and "text" not in record
        for i, copies in enumerate(COPIES):
            for j, chars in enumerate(CHARS):
                toml = f'[[guard]]\ndetector = "periodic"\nparams = {{min_copies = {copies}, min_chars = {chars}}}\n'
                alarm = deadloop.Guards.parse(toml).guard("m").push(text, "answer").alarm
                axes = {"min_copies": i, "min_chars": j}
                found = [stop_of(decided, at) for at in ((i, j), (j, i)) if len(axes) == 2]
                assert (alarm.exact if alarm else None) in found
                alarms += alarm is not None
    assert alarms > 10


def test_lines_are_text_or_bytes_and_a_bad_one_is_named() -> None:
    plan = deadloop.Plan(GRID)
    good = line("a", SENTENCE)
    assert plan.records([good]) == plan.records([good.encode()])
    with pytest.raises(ValueError, match="lines:2: "):
        plan.records([good, "{"])
    with pytest.raises(ValueError, match="mine.toml:2:12: unknown detector"):
        deadloop.Plan('[[guard]]\ndetector = "periodc"', "mine.toml")
    with pytest.raises(ValueError, match="no cell 6; the plan has 6"):
        plan.setting(6)
    assert plan.fingerprint != deadloop.Plan(GRID.replace("8", "9")).fingerprint
