"""A sweep on Ray: a task for each shard of files that the nodes see."""

from __future__ import annotations

from collections.abc import Iterable

from deadloop._run import Map, Shard


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
