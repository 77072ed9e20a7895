"""The vectors and cases: the same alarms as Rust, at any chunking. `scripts/bindings` makes the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import deadloop
import pytest

SIZES = [1, 7, 50, 0]
FOLDER = Path(os.environ.get("DEADLOOP_INPUTS", ""))

pytestmark = pytest.mark.skipif(not FOLDER.name, reason="DEADLOOP_INPUTS names no folder")


def told(guards: deadloop.Guards, item: dict[str, Any], size: int) -> Any:
    guard = guards.guard(item["model"])
    for channel, text in item["pieces"]:
        step = size or max(len(text), 1)
        for at in range(0, len(text), step):
            if (alarm := guard.push(text[at : at + step], channel).alarm) is not None:
                return json.loads(alarm.json())
    return None


def expected(item: dict[str, Any], alarm: Any) -> None:
    """What the slow references say."""
    expect = item["expect"]
    if expect is None:
        assert alarm is None, item["name"]
        return
    assert alarm["exact"] == expect["at"], item["name"]
    for name in ("kind", "onset", "period"):
        assert name not in expect or alarm[name] == expect[name], item["name"]


def test_every_input() -> None:
    inputs = [json.loads(line) for line in (FOLDER / "inputs.jsonl").read_text().splitlines()]
    rust = [json.loads(line) for line in (FOLDER / "alarms.jsonl").read_text().splitlines()]
    found = 0
    for item, wanted in zip(inputs, rust, strict=True):
        settings = item["settings"]
        try:
            guards = deadloop.Guards.recommended() if settings is None else deadloop.Guards.parse(settings)
        except ValueError as e:
            assert str(e) == wanted["refused"] and not item.get("expect"), item["name"]
            continue
        assert guards.id == wanted["id"]
        alarms = [told(guards, item, size) for size in SIZES]
        assert alarms == wanted["alarms"], item["name"]
        if "expect" in item:
            expected(item, alarms[0])
        found += alarms[0] is not None
    assert len(inputs) > 1200 and found > 500, (len(inputs), found)


def pushed(guard: deadloop.Guard, event: dict[str, Any]) -> deadloop.Decision:
    """An event, by the method that there is for it."""
    match event["type"]:
        case "text":
            return guard.push(event["text"], event["channel"])
        case "call":
            return guard.call(event["name"], event["arguments"], event["id"])
        case "result":
            return guard.result(event["id"], event["content"], event["error"])
        case "turn":
            return guard.turn(event["agent"])
        case "user":
            return guard.user(event["text"])
        case "handoff":
            return guard.handoff(event["from"], event["to"])
        case "silence":
            return guard.silence(event["seconds"])
        case "finish":
            return guard.finish(event["reason"])
        case "closed":
            return guard.closed()
    raise AssertionError(event)


def decided(item: dict[str, Any]) -> list[Any]:
    """What a guard decides, as Rust writes it."""
    guard = deadloop.Guards(item["settings"]).guard()
    told: list[Any] = []
    for number, event in enumerate(item["events"]):
        decision = pushed(guard, event)
        alarm = None if decision.alarm is None else json.loads(decision.alarm.json())
        warnings = [json.loads(warning.json()) for warning in decision.warnings]
        if decision or warnings:
            told.append([number, {"action": decision.action, "alarm": alarm, "warnings": warnings}])
        if decision.action == "stop":
            break
    return told
