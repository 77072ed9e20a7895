"""A sweep on Spark: of rows of a DataFrame (`sweep`), or of files that the executors see (`tasks`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from deadloop import cluster
from deadloop._deadloop import Plan
from deadloop._sweep import Map, PathLike, Shard


def sweep(df: Any, plan: Plan, out: PathLike, *options: str, corpus: PathLike, **more: Any) -> Path:
    """Replays the rows of `df` (`file, line, text`) on the executors: the bytes of `deadloop sweep CORPUS`.

    Only records come to the driver. `corpus`: as of `deadloop.cluster.join`.
    """

    def each(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield cluster.records(plan, batch)

    made = df.select(*cluster.COLUMNS).mapInArrow(each, "file long, line long, record binary")
    return cluster.join([made.toArrow()], plan, out, *options, corpus=corpus, **more)


def partial(df: Any, plan: Plan, by: list[str]) -> Any:
    """The sums by box of the rows of `df`, added up on the executors: a table for `Plan.scores`."""
    names = plan.partial([], by).schema.names
    key = [name for name in names if name.startswith("by.") or name in ("block", "box", "latency")]
    kind = {"box": "string"}
    schema = ", ".join(f"`{name}` {'string' if name.startswith('by.') else kind.get(name, 'long')}" for name in names)

    def each(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from plan.partial(batch.column("text").to_pylist(), by).to_batches()

    parts = df.select(*cluster.COLUMNS).mapInArrow(each, schema)
    sums = {name: "sum" for name in names if name not in key}
    added = parts.groupBy(*[f"`{name}`" for name in key]).agg({f"`{name}`": how for name, how in sums.items()})
    table = added.toArrow()
    return table.rename_columns([name.removeprefix("sum(").removesuffix(")").strip("`") for name in table.column_names])


def tasks(session: Any) -> Map:
    """For `deadloop.sweep(..., map=tasks(session))`: a task a shard; corpus, folder and program by the same names."""

    def by_spark(shard: Shard, numbers: Iterable[int]) -> Iterable[str]:
        every = list(numbers)
        made: list[str] = session.sparkContext.parallelize(every, len(every)).map(shard).collect()
        return made

    return by_spark
