"""A sweep in shards against the whole: needs the program, as $DEADLOOP or on the path."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import deadloop
import pytest
from kit import STARTER, needs_program, same


@needs_program
def test_shards_of_a_pool_are_the_whole(whole: tuple[Path, Path], tmp_path: Path) -> None:
    grid, wanted = whole
    with ThreadPoolExecutor(2) as pool:
        out = deadloop.sweep(STARTER, tmp_path / "out", "--grid", str(grid), "--csv", shards=3, map=pool.map)
    same(wanted, out)


@needs_program
def test_scores_are_a_table(whole: tuple[Path, Path]) -> None:
    pytest.importorskip("polars")
    scores = deadloop.read_scores(whole[1])
    assert scores.height >= 6 and "recall" in scores.columns


@needs_program
def test_what_the_program_refuses_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no part.json"):
        deadloop.merge([tmp_path], tmp_path / "out")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no program /none/deadloop"):
        deadloop.merge([tmp_path], tmp_path / "out", program="/none/deadloop")
    with pytest.raises(ValueError, match="shards is 0"):
        deadloop.sweep(tmp_path, tmp_path / "out", shards=0)
