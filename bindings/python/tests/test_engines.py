"""The same on an engine and from an object store: the result is the single machine's, byte for byte."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest
from deadloop import cluster
from kit import STARTER, needs_program, same

pytestmark = needs_program


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Two executors, each a JVM of its own."""
    sql = pytest.importorskip("pyspark.sql")
    assert shutil.which("java"), "Spark needs Java 17 or later (Debian: default-jre-headless)"
    os.environ["SPARK_LOCAL_HOSTNAME"] = "localhost"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.files.maxPartitionBytes": "200000",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    }
    for name in ("PYTHONPATH", "DEADLOOP"):
        settings[f"spark.executorEnv.{name}"] = os.environ.get(name, "")
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_spark(spark: Any, whole: tuple[Path, Path], parts: Path, tmp_path: Path) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    rows = spark.read.parquet(str(parts))
    pids = rows.rdd.mapPartitions(lambda _: [os.getppid()]).distinct().collect()
    assert len(pids) > 1, "one executor did everything"
    same(whole[1], deadloop.spark.sweep(rows, plan, tmp_path / "out", "--csv", corpus=STARTER))


def test_spark_sums(spark: Any, whole: tuple[Path, Path], parts: Path) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    lines = cluster.rows(STARTER).column("text").to_pylist()
    sums = deadloop.spark.partial(spark.read.parquet(str(parts)), plan, ["model"])
    alone = plan.partial(lines, ["model"])
    assert sums.num_rows == alone.num_rows
    assert plan.scores([sums]).equals(plan.scores([alone]))


def test_spark_shards(spark: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    by = deadloop.spark.tasks(spark)
    same(whole[1], deadloop.sweep(STARTER, tmp_path / "out", "--grid", str(whole[0]), "--csv", shards=4, map=by))


def test_s3(bucket: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    """Rows that lie at s3://corpus/parts: the engine reads them, here pyarrow's dataset."""
    dataset = pytest.importorskip("pyarrow.dataset")
    plan = cluster.plan_of(STARTER, whole[0])
    batches = dataset.dataset("corpus/parts", filesystem=bucket).to_batches()
    made = [cluster.records(plan, batch) for batch in batches]
    same(whole[1], cluster.join(made, plan, tmp_path / "out", "--csv", corpus=STARTER))
