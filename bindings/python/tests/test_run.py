"""The program's commands as functions, against the program: needs it, as $DEADLOOP or on the path."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import deadloop
import pytest
from kit import STARTER, needs_program, program, same


@needs_program
def test_shards_of_a_pool_are_the_whole(whole: tuple[Path, Path], tmp_path: Path) -> None:
    grid, wanted = whole
    with ThreadPoolExecutor(2) as pool:
        deadloop.sweep(STARTER, tmp_path / "out", grid=grid, csv=True, shards=3, map=pool.map)
    same(wanted, tmp_path / "out")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> deadloop.Result:
    out = tmp_path_factory.mktemp("tuned") / "out"
    return deadloop.tune(STARTER, out, settings="document", constraint=["recall>=1"], limit=200, csv=True)


@needs_program
def test_a_choice_is_that_of_the_program(tuned: deadloop.Result, tmp_path: Path) -> None:
    options = ["--settings", "document", "--constraint", "recall>=1", "--limit", "200", "--csv", "--json"]
    done = subprocess.run([str(program), "tune", STARTER, *options, "--out", tmp_path / "out"], stdout=subprocess.PIPE)
    assert done.returncode == 6 and tuned.answer["over_limit"]
    assert tuned.folder is not None
    same(tmp_path / "out", tuned.folder)
    said = json.loads(done.stdout.replace(str(tmp_path / "out").encode(), str(tuned.folder).encode()))
    assert said == {"out": str(tuned.folder), "exit": 6, **tuned.answer}
    assert deadloop.read(tuned.folder) == tuned


@needs_program
@pytest.mark.parametrize("absent", [[], ["polars"], ["polars", "pyarrow"]], ids=["polars", "pandas", "rows"])
def test_tables_are_frames_where_a_library_is(tuned: deadloop.Result, monkeypatch: pytest.MonkeyPatch, absent: list[str]) -> None:
    wanted = "polars" if not absent else "pandas" if absent == ["polars"] else "builtins"
    if wanted != "builtins":
        pytest.importorskip(wanted)
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("scores", "outcomes", "choice"):
        table: Any = tuned.table(name)
        assert type(table).__module__.partition(".")[0] == wanted
    scores = tuned.table("scores")
    rows = scores if wanted == "builtins" else scores.to_dicts() if wanted == "polars" else scores.to_dict("records")
    row = next(row for row in rows if row["setting"] == "never" and row["by"] == "total")
    assert row["recall"] == 0 and row["loops"] == 58
    with pytest.raises(FileNotFoundError, match="no table flips"):
        tuned.table("flips")


@needs_program
def test_without_a_library_of_frames_the_tables_are_csv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    replayed = deadloop.replay(STARTER, tmp_path / "out", settings=["quiet", "vllm"], split="dev")
    assert [row["setting"] for row in replayed.table("scores") if row["by"] == "total"]
    (tmp_path / "out" / "scores.csv").unlink()
    with pytest.raises(ImportError, match="pip install polars"):
        replayed.table("scores")


@needs_program
def test_a_gate_that_fails_is_an_answer(tmp_path: Path) -> None:
    compared = deadloop.compare("quiet", "vllm", corpus=STARTER, split="dev", fail_on="flips", out=tmp_path / "out")
    assert not all(gate["passed"] for gate in compared.answer["gates"])
    assert len(compared.table("flips")) == len(compared.answer["flips"]) > 0
    assert deadloop.read(tmp_path / "out").answer == compared.answer


@needs_program
def test_an_explanation_is_that_of_the_program(tuned: deadloop.Result) -> None:
    transcript = "handmade/loop/short-sequence/000"
    said = subprocess.run([str(program), "explain", STARTER, transcript, "--json"], stdout=subprocess.PIPE, check=True)
    assert deadloop.explain(STARTER, transcript) == json.loads(said.stdout)
    assert deadloop.explain(tuned, transcript)["settings"]


@needs_program
@pytest.mark.parametrize("progress", [False, True])
def test_the_message_of_the_program_is_raised(capfd: pytest.CaptureFixture[str], progress: bool, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('[[guard]]\ndetector = "periodc"\n')
    with pytest.raises(deadloop.RunError, match=r"^\S*bad.toml:2:12: .*periodic") as refused:
        deadloop.replay(STARTER, tmp_path / "out", settings=bad, progress=progress)
    assert refused.value.code == 2
    assert ("bad.toml" in capfd.readouterr().err) == progress
    with pytest.raises(deadloop.RunError, match="unexpected argument '--no-such'"):
        deadloop.tune(STARTER, tmp_path / "out", no_such=1)
    with pytest.raises(deadloop.RunError, match="no part.json"):
        deadloop.merge([tmp_path], tmp_path / "out")


@needs_program
@pytest.mark.skipif(os.name != "posix", reason="the bar needs a terminal")
def test_progress_is_that_of_the_program(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    deadloop.replay(STARTER, tmp_path / "out", split="dev", progress=True)
    assert "replaying" in capfd.readouterr().err


@needs_program
@pytest.mark.skipif(os.name != "posix", reason="the guard is a script of the shell")
def test_ctrl_c_ends_the_program(tmp_path: Path) -> None:
    slow = tmp_path / "slow.toml"
    slow.write_text('[[guard]]\ndetector = "command"\n[guard.params]\ncommand = ["sh", "-c", "echo $PPID >pid; exec sleep 60"]\n')
    code = f"import deadloop; deadloop.replay({str(STARTER)!r}, 'out', settings='slow.toml')"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as python:
        pid = tmp_path / "pid"
        until = time.monotonic() + 60
        while not (pid.exists() and pid.read_text().endswith("\n")):
            assert python.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        python.send_signal(signal.SIGINT)  # Python alone: a terminal would tell both
        assert "KeyboardInterrupt" in python.communicate(timeout=30)[1]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no program /none/deadloop"):
        deadloop.merge([tmp_path], tmp_path / "out", program="/none/deadloop")
    with pytest.raises(ValueError, match="shards is 0"):
        deadloop.sweep(tmp_path, tmp_path / "out", grid="grid.toml", shards=0)
