"""The examples of docs/python.md, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from kit import STARTER, needs_program

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


@needs_program
def test_the_examples_run(
    server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("httpx2", reason="the page shows the clients of today")
    openai = pytest.importorskip("openai", minversion="3")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 7
    (tmp_path / "datasets").symlink_to(STARTER.parent)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"openai": openai}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert said.count("dead loop: ") == 3 and "The model was repeating itself" in said
