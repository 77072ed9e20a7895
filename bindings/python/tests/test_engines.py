"""The same on engines: where they are installed (scripts/cluster). The result is the single machine's, byte for byte."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deadloop
import pytest
from deadloop import cluster
from kit import GRID, STARTER, needs_program, same

pytestmark = needs_program


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A grid, and the folder of a sweep by one process."""
    folder = tmp_path_factory.mktemp("whole")
    grid = folder / "grid.toml"
    grid.write_text(GRID)
    return grid, deadloop.sweep(STARTER, folder / "out", "--grid", str(grid), shards=1)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as eight Parquet files, its rows dealt out."""
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("parts")
    rows = cluster.rows(STARTER)
    for i in range(8):
        own = rows.take(list(range(i, rows.num_rows, 8)))
        parquet.write_table(own, folder / f"part-{i}.parquet", compression="zstd")
    return folder


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Two executors, each a JVM of its own."""
    sql = pytest.importorskip("pyspark.sql")
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
    same(whole[1], deadloop.spark.sweep(rows, plan, tmp_path / "out", corpus=STARTER))


def test_spark_sums(spark: Any, whole: tuple[Path, Path], parts: Path) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    lines = cluster.rows(STARTER).column("text").to_pylist()
    sums = deadloop.spark.partial(spark.read.parquet(str(parts)), plan, ["model"])
    alone = plan.partial(lines, ["model"])
    assert sums.num_rows == alone.num_rows
    assert plan.scores([sums]).equals(plan.scores([alone]))


def test_spark_shards(spark: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    by = deadloop.spark.tasks(spark)
    same(whole[1], deadloop.sweep(STARTER, tmp_path / "out", "--grid", str(whole[0]), shards=4, map=by))


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_raylet_start_wait_time_s"] = "180"  # it waits for 30: too few beside other work
    ray = pytest.importorskip("ray")
    env = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "DEADLOOP")}
    ray.init(num_cpus=3, object_store_memory=2 << 30, include_dashboard=False, runtime_env={"env_vars": env})
    yield ray
    ray.shutdown()


def test_ray(ray: Any, whole: tuple[Path, Path], parts: Path, tmp_path: Path) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    same(whole[1], deadloop.ray.sweep(ray.data.read_parquet(str(parts)), plan, tmp_path / "out", corpus=STARTER))


def test_ray_shards(ray: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    by = deadloop.ray.tasks()
    same(whole[1], deadloop.sweep(STARTER, tmp_path / "out", "--grid", str(whole[0]), shards=4, map=by))


def up(port: int) -> None:
    """Waits for a server."""
    for _ in range(240):
        with socket.socket() as there:
            if there.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise AssertionError("the server does not come up")


@pytest.fixture(scope="module")
def bucket(parts: Path) -> Iterator[Any]:
    """The parts in a bucket of a server that stands in for S3, and how pyarrow finds it."""
    pytest.importorskip("moto.server")
    fs = pytest.importorskip("pyarrow.fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-p", port]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            there = fs.S3FileSystem(
                endpoint_override=f"http://127.0.0.1:{port}",
                access_key="test",
                secret_key="test",
                region="us-east-1",
                allow_bucket_creation=True,
            )
            up(int(port))
            there.create_dir("corpus")
            fs.copy_files(str(parts), "corpus/parts", destination_filesystem=there)
            yield there
        finally:
            server.terminate()


def test_s3(bucket: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    """Rows that lie at s3://corpus/parts: the engine reads them, here pyarrow's dataset."""
    dataset = pytest.importorskip("pyarrow.dataset")
    plan = cluster.plan_of(STARTER, whole[0])
    batches = dataset.dataset("corpus/parts", filesystem=bucket).to_batches()
    made = [cluster.records(plan, batch) for batch in batches]
    same(whole[1], cluster.join(made, plan, tmp_path / "out", corpus=STARTER))


def test_ray_reads_s3(ray: Any, bucket: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    plan = cluster.plan_of(STARTER, whole[0])
    rows = ray.data.read_parquet("corpus/parts", filesystem=bucket)
    same(whole[1], deadloop.ray.sweep(rows, plan, tmp_path / "out", corpus=STARTER))
