"""A sweep over tables of lines against one machine's: records joined, and sums by box."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest
from deadloop import cluster
from kit import GRID, STARTER, needs_program, same

pa = pytest.importorskip("pyarrow")


@needs_program
def test_records_of_a_table_in_any_order_are_the_whole(whole: tuple[Path, Path], tmp_path: Path) -> None:
    rows = cluster.rows(STARTER)
    plan = pickle.loads(pickle.dumps(cluster.plan_of(STARTER, whole[0])))
    order = list(range(rows.num_rows))
    random.Random(1).shuffle(order)
    parts = [rows.take(order[i : i + 60]) for i in range(0, len(order), 60)]
    made = [cluster.records(plan, part) for part in parts]
    same(whole[1], cluster.join(made, plan, tmp_path / "out", "--csv", corpus=STARTER))


@needs_program
def test_records_of_another_plan_or_other_labels_are_refused(whole: tuple[Path, Path], tmp_path: Path) -> None:
    rows = cluster.rows(STARTER).slice(0, 3)
    bare = deadloop.Plan(GRID)
    with pytest.raises(RuntimeError, match="made with other labels"):
        cluster.join([cluster.records(bare, rows)], bare, tmp_path / "out", corpus=STARTER)
    plan = cluster.plan_of(STARTER, whole[0])
    twice = [cluster.records(plan, rows)] * 2
    with pytest.raises(RuntimeError, match="out of its order, or twice"):
        cluster.join(twice, plan, tmp_path / "out", corpus=STARTER)


@needs_program
@pytest.mark.parametrize("name", ["out", "out.grid.toml", "out.records.jsonl", "out.part-1-of-1"])
def test_what_is_there_is_overwritten_only_where_that_is_asked_for(whole: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    mine = tmp_path / name
    if name.startswith("out.part") or name == "out":
        mine.mkdir()
        mine = mine / "mine.txt"
    mine.write_text("mine")

    def untouched() -> Iterator[Any]:
        raise AssertionError("a table was taken")
        yield

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match=rf"{name}: already there; .*force=True"):
        cluster.join(untouched(), plan, tmp_path / "out", corpus=STARTER)
    assert sorted(tmp_path.rglob("*")) == before and mine.read_text() == "mine"

    made = cluster.records(plan, cluster.rows(STARTER))
    cluster.join([made], plan, tmp_path / "out", "--csv", corpus=STARTER, force=True)
    (tmp_path / "out" / "mine.txt").unlink(missing_ok=True)
    same(whole[1], tmp_path / "out")
    with pytest.raises(FileExistsError, match="out.grid.toml, .*out.part-1-of-1, .*out: already there"):
        cluster.join([made], plan, tmp_path / "out", "--csv", corpus=STARTER)


@needs_program
@pytest.mark.parametrize("by", [[], ["model"]])
def test_sums_by_box_are_the_scores(whole: tuple[Path, Path], by: list[str]) -> None:
    """Every count and quantile of every cell, of all models and of each that has rows."""
    polars = pytest.importorskip("polars")
    plan = cluster.plan_of(STARTER, whole[0])
    lines = cluster.rows(STARTER).column("text").to_pylist()
    parts = [plan.partial(lines[i::3], by) for i in range(3)]
    assert sum(part.num_rows for part in parts) < len(lines)
    own = polars.from_arrow(plan.scores(parts))
    scores = deadloop.read_scores(whole[1]).filter(polars.col("unit") == "chars")
    scores = scores.filter((polars.col("model") == "*") == (not by)).filter(polars.col("setting").is_in(own["setting"].implode()))
    key = ["setting"] + ["model"] * len(by)
    own = own.rename({"by.model": "model"}) if by else own
    names = [name for name in own.columns if name in scores.columns and name not in key]
    assert len(names) > 25
    both = scores.join(own, on=key, suffix=".own")
    assert both.height == scores.height >= len(plan)
    for name in names:
        wrong = both.filter(polars.col(name).ne_missing(polars.col(f"{name}.own")))
        assert wrong.is_empty(), (name, wrong.select(*key, name, f"{name}.own"))


def test_sums_of_sums_are_sums() -> None:
    plan = deadloop.Plan(GRID)
    lines = [json.dumps({"id": f"t{i}", "model": "m", "text": f"{i}, and so on. " * i}) for i in range(40)]
    whole = plan.scores([plan.partial(lines)])
    parts = pa.concat_tables([plan.partial(lines[:7]), plan.partial(lines[7:])])
    sums = [(name, "sum") for name in parts.column_names if name not in ("block", "box", "latency")]
    added = parts.group_by(["block", "box", "latency"]).aggregate(sums)
    added = added.rename_columns([name.removesuffix("_sum") for name in added.column_names])
    assert plan.scores([added]).equals(whole) and whole.num_rows == len(plan)
    assert max(whole.column("unlabelled").to_pylist()) == 40


def test_what_is_no_sum_is_refused() -> None:
    plan = deadloop.Plan(GRID)
    with pytest.raises(ValueError, match="no column block"):
        plan.scores([pa.table({"n": [1]})])
    with pytest.raises(ValueError, match="labels.csv:1: "):
        deadloop.Plan(GRID, labels="nonsense\n")
    with pytest.raises(ValueError, match="expected a place for each line"):
        plan.records(["{}"], at=[])
