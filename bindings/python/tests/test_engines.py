"""Shards that run on an engine: the result is the single machine's, byte for byte."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest
from kit import STARTER, needs_program, same

pytestmark = needs_program


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Two executors, each a JVM of its own."""
    sql = pytest.importorskip("pyspark.sql")
    assert shutil.which("java"), "Spark needs Java 17 or later (Debian: default-jre-headless)"
    os.environ["SPARK_LOCAL_HOSTNAME"] = "localhost"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
    for name in ("PYTHONPATH", "DEADLOOP"):
        settings[f"spark.executorEnv.{name}"] = os.environ.get(name, "")
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_spark_shards(spark: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    by = deadloop.spark.tasks(spark)
    deadloop.sweep(STARTER, tmp_path / "out", grid=whole[0], csv=True, shards=4, map=by)
    same(whole[1], tmp_path / "out")
