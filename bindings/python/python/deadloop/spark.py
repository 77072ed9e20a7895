"""A sweep on Spark: a task for each shard of files that the executors see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deadloop._sweep import Map, Shard


