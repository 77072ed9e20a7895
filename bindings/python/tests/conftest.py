"""What the tests share: the server that counts, a sweep by one process; and that CI skips nothing."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from kit import GRID, STARTER, program

BINDINGS = Path(__file__).parents[2]
# The most chunks that may have been sent of 2,001 when a client was stopped.
MOST = 300


class Server:
    """The server of tests/server.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.url = process.stdout.readline().strip()

    def last(self) -> dict[str, Any]:
        """What became of the last response, once it is over."""
        with urllib.request.urlopen(self.url + "/last", timeout=60) as response:
            told: dict[str, Any] = json.load(response)
        return told

    def stopped(self) -> None:
        """The last response was cut by its client, early."""
        told = self.last()
        if path := os.environ.get("DEADLOOP_COUNTS"):
            test = os.environ["PYTEST_CURRENT_TEST"].split(" ")[0]
            with open(path, "a") as counts:
                counts.write(json.dumps({"test": test, "sent": told["sent"]}) + "\n")
        assert told["gone"] and told["sent"] < MOST, told

    async def astopped(self) -> None:
        """The same while the event loop, which closes connections, runs on."""
        await asyncio.to_thread(self.stopped)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    command = [sys.executable, str(BINDINGS / "tests" / "server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Server(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def prose() -> str:
    return (BINDINGS / "tests" / "prose.txt").read_text()


def refused(report: Any) -> Any:
    """In CI everything is installed: what is skipped there has failed."""
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped, and CI is set: {report.longrepr[-1]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return refused((yield))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A grid, and the folder of a sweep by one process."""
    folder = tmp_path_factory.mktemp("whole")
    grid, out = folder / "grid.toml", folder / "out"
    grid.write_text(GRID)
    subprocess.run([program, "sweep", STARTER, "--grid", grid, "--csv", "--quiet", "--out", out], check=True)
    return grid, out
