"""The vectors and cases of this repository as inputs that Rust, Python and node read alike.

    python3 inputs.py > inputs.jsonl

A line is `{"name", "settings": TOML or null, "model", "pieces": [[channel, text], ...], "expect"}`; `expect` is
that of a vector: null, or where it must alarm and as what; it is absent where only the three are compared.
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2] / "tests"


def guard(detector: str, params: dict[str, Any], preset: str | None = None) -> str:
    """Settings with one guard. Numbers, texts and lists are written in TOML as in JSON."""
    head = f"[[guard]]\ndetector = {json.dumps(detector)}\n"
    head += f"preset = {json.dumps(preset)}\n" if preset else ""
    return head + "[guard.params]\n" + "".join(f"{name} = {value(v)}\n" for name, v in params.items())


def value(v: Any) -> str:
    """A value as TOML: tables inside of lists are rules."""
    if isinstance(v, dict):
        return "{" + ", ".join(f"{name} = {value(item)}" for name, item in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(map(value, v)) + "]"
    return json.dumps(v)


def vectors() -> Iterator[dict[str, Any]]:
    for detector in ("checkpoint", "periodic"):
        lines = (TESTS / "vectors" / f"{detector}.jsonl").read_text().splitlines()
        for number, line in enumerate(lines, 1):
            vector = json.loads(line)
            yield {
                "name": f"{detector}.jsonl:{number}",
                "settings": guard(detector, vector["params"]),
                "model": "",
                "pieces": [["answer", vector["text"]]],
                "expect": vector["expect"],
            }


def text(part: Any) -> str:
    """A part of a case's text; `filler` is of this program's own making."""
    if isinstance(part, str):
        return part
    if "literal" in part:
        return str(part["literal"])
    if "repeat" in part:
        return str(part["repeat"]) * int(part["times"])
    if "filler" in part:
        letters = random.Random(part["filler"])
        return "".join(letters.choice("abcdefghijklmnopqrstuvwxyz  ") for _ in range(part["filler"]))
    if "numbered" in part:
        items = part["numbered"]
        return "".join(f"{i + 1}. {items[i % len(items)]}\n" for i in range(part["items"]))
    words = part.get("words") or [""]
    lines = (part["lines"].replace("{n}", str(i + 1)) for i in range(part["times"]))
    turns = (line.replace("{any}", "{word}").replace("{word}", words[i % len(words)]) for i, line in enumerate(lines))
    return "".join(turns)


def cases() -> Iterator[dict[str, Any]]:
    for path in sorted((TESTS / "cases").glob("*.toml")):
        for case in tomllib.loads(path.read_text())["case"]:
            if "text" not in case:
                continue  # a run: `events` has some for every detector
            parts = case["text"] if isinstance(case["text"], list) else [case["text"]]
            pieces = []
            for part in parts:
                channel = part.get("channel", "reasoning") if isinstance(part, dict) else "reasoning"
                marked = text(part).replace("⟦onset⟧", "").replace("⟦alarm⟧", "")
                pieces.append([channel, marked])
            expects = case["expect"] if isinstance(case["expect"], list) else [case["expect"]]
            for number, expect in enumerate(expects):
                own = "detector" in expect
                settings = guard(expect["detector"], expect.get("params", {}), expect.get("preset")) if own else None
                yield {
                    "name": f"{path.name}: {case['name']} ({number})",
                    "settings": settings,
                    "model": case.get("model", "unknown"),
                    "pieces": pieces,
                }


if __name__ == "__main__":
    for item in (*vectors(), *cases()):
        sys.stdout.write(json.dumps(item, ensure_ascii=False) + "\n")
