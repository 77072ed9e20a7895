"""A sweep on Ray: of rows of a dataset (`sweep`), or of files that the nodes see (`tasks`)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deadloop import cluster
from deadloop._deadloop import Plan
from deadloop._sweep import Map, PathLike, Shard


def sweep(ds: Any, plan: Plan, out: PathLike, *options: str, corpus: PathLike, **more: Any) -> Path:
    """Replays the rows of a Ray dataset (`file, line, text`): the bytes of `deadloop sweep CORPUS`.

    Leave a CPU free for the readers: a pool of actors of the size of the machine waits for ever. `corpus`: as of
    `deadloop.cluster.join`.
    """

    def each(table: Any) -> Any:
        return cluster.records(plan, table)

    made = ds.select_columns(list(cluster.COLUMNS)).map_batches(each, batch_format="pyarrow")
    return cluster.join(made.iter_batches(batch_format="pyarrow"), plan, out, *options, corpus=corpus, **more)


def tasks() -> Map:
    """For `deadloop.sweep(..., map=tasks())`: a task a shard; corpus, folder and program by the same names."""

    def by_ray(shard: Shard, numbers: Iterable[int]) -> Iterable[str]:
        import ray

        def one(number: int) -> str:
            return shard(number)

        task = ray.remote(one)
        made: list[str] = ray.get([task.remote(n) for n in numbers])
        return made

    return by_ray
