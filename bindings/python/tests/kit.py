"""What tests of sweeps share."""

from __future__ import annotations

import filecmp
import os
import shutil
from pathlib import Path

import pytest

STARTER = Path(__file__).parents[3] / "datasets" / "starter"
GRID = '[[guard]]\ndetector = "periodic"\n[guard.params]\nmin_copies = [3, 5, 8]\nmin_chars = [100, 200]\n'

program = shutil.which(os.environ.get("DEADLOOP") or "deadloop")
needs_program = pytest.mark.skipif(program is None, reason="no program deadloop")


def same(a: Path, b: Path) -> None:
    """All files but the one that says when they were made."""
    names = sorted(path.relative_to(a) for path in a.rglob("*") if path.is_file() and path.name != "manifest.json")
    others = sorted(path.relative_to(b) for path in b.rglob("*") if path.is_file() and path.name != "manifest.json")
    assert names == others and len(names) > 2
    assert [name for name in names if not filecmp.cmp(a / name, b / name, shallow=False)] == []
