"""A sweep on Spark: a task for each shard of files that the executors see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deadloop._run import Map, Shard


def tasks(session: Any) -> Map:
    """For `deadloop.sweep(..., map=tasks(session))`: a task a shard; corpus, folder and program by the same names."""

    def by_spark(shard: Shard, numbers: Iterable[int]) -> Iterable[str]:
        every = list(numbers)
        made: list[str] = session.sparkContext.parallelize(every, len(every)).map(shard).collect()
        return made

    return by_spark
