"""The same on Ray, where it is installed (`scripts/cluster`): the result is the single machine's, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest
from kit import STARTER, needs_program, same

pytestmark = needs_program


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_raylet_start_wait_time_s"] = "180"  # it waits for 30: too few beside other work
    os.environ["RAY_worker_niceness"] = "0"  # 15 else, and beside other work they do not run at all
    ray = pytest.importorskip("ray")
    env = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "DEADLOOP")}
    ray.init(num_cpus=3, object_store_memory=2 << 30, include_dashboard=False, runtime_env={"env_vars": env})
    yield ray
    ray.shutdown()


def test_ray_shards(ray: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    by = deadloop.ray.tasks()
    deadloop.sweep(STARTER, tmp_path / "out", grid=whole[0], csv=True, shards=4, map=by)
    same(whole[1], tmp_path / "out")
