"""The program's commands as functions, and the tables that they leave."""

from __future__ import annotations

import codecs
import csv
import importlib
import importlib.metadata
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PathLike = str | os.PathLike[str]
Option = PathLike | float | Sequence[PathLike | float] | None
"""The value of an option: `loop_rate="1/333"` is `--loop-rate=1/333`, True a flag, a list an option that is repeated."""

# Exit codes of answers.
OVER_LIMIT, GATE_FAILED = 6, 100


class RunError(RuntimeError):
    """The program has refused or failed, with its message. `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Result:
    """The answer of a command, and its folder."""

    folder: Path | None
    """The folder that it wrote. None for a comparison without `out`."""
    answer: dict[str, Any]
    """The answer of `--json`: of `tune` `verdict`, `reason`, `in_use`, `file` and more."""

    def table(self, name: str) -> Any:
        """Returns a table: `scores`, `outcomes`, `choice`; of a comparison `rows`, `flips`.

        It is a frame of polars, else of pandas with pyarrow. Where neither is installed it is a list of dicts.

        Raises FileNotFoundError if there is no such table, ImportError if it is in Parquet alone and nothing reads that.
        """
        if isinstance(rows := self.answer.get(name), list):
            return next((library.DataFrame(rows) for library in _libraries()), rows)
        parquet, text = (Path(self.folder or "") / f"{name}.{kind}" for kind in ("parquet", "csv"))
        for library in _libraries():
            if parquet.is_file():
                return library.read_parquet(parquet)
            if text.is_file():
                every = {"infer_schema_length": None} if library.__name__ == "polars" else {}
                return library.read_csv(text, **every)
        if text.is_file():
            with text.open(newline="", encoding="utf-8") as file:
                return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
        if parquet.is_file():
            raise ImportError(f"{parquet}: read by polars, or by pandas with pyarrow: pip install polars")
        raise FileNotFoundError(f"{self.folder}: no table {name}")


def tune(
    corpus: PathLike,
    out: PathLike = "deadloop-tune",
    *,
    settings: PathLike | None = None,
    grid: PathLike | None = None,
    progress: bool = False,
    **options: Option,
) -> Result:
    """Chooses a setting for each model: `deadloop tune CORPUS --out OUT`.

    Args:
        corpus: A folder, or a file of JSON lines.
        out: The folder of the result. The same call continues what is in it; `force=True` overwrites another result.
        settings: The settings in use: a file, or the name of a preset. Without it the recommended guard.
        grid: The grid to search. Without it ready guards alone may ship.
        progress: True shows on stderr what the program shows on a terminal, with its bar.
        **options: Other options of the command, as `constraint=["fa_per_mchar<=1"]`, `loop_rate="1/333"`. `program=` names the
            program to run, else it is that of $DEADLOOP, of this package, or of the path.

    Returns:
        The result. A file that breaks a limit is one too: `answer["over_limit"]`.

    Raises:
        RunError: The program refused or failed.
        FileNotFoundError: There is no program.
    """
    return _written("tune", [corpus], out, {"settings": settings, "grid": grid, "progress": progress, **options})


def replay(
    corpus: PathLike,
    out: PathLike = "deadloop-replay",
    *,
    settings: PathLike | Sequence[PathLike] | None = None,
    progress: bool = False,
    **options: Option,
) -> Result:
    """Replays settings, of which the first is in use: `deadloop replay CORPUS --out OUT`. See `tune`."""
    return _written("replay", [corpus], out, {"settings": settings, "progress": progress, **options})


def compare(base: PathLike | Result, new: PathLike | Result, *, corpus: PathLike | None = None, **options: Option) -> Result:
    """Compares two results, or two settings on a corpus: `deadloop compare BASE NEW`. See `tune`.

    A gate that failed is an answer and no error: `answer["gates"]`.
    """
    printed = run("compare", [_place(base), _place(new)], {"corpus": corpus, "json": True, **options}, (0, GATE_FAILED))
    out = options.get("out")
    return Result(Path(out) if isinstance(out, (str, os.PathLike)) else None, json.loads(printed))


def explain(corpus: PathLike | Result, transcript: str, *, settings: PathLike | None = None, **options: Option) -> dict[str, Any]:
    """Explains one transcript: `deadloop explain CORPUS TRANSCRIPT`. See `tune`.

    A result in place of a corpus is its corpus, seen through its settings.
    """
    printed = run("explain", [_place(corpus), transcript], {"settings": settings, "json": True, **options})
    answer: dict[str, Any] = json.loads(printed)
    return answer


def read(folder: PathLike) -> Result:
    """Reads the folder that `tune`, `sweep`, `replay`, `compare` or `merge` wrote.

    Raises FileNotFoundError if it holds no result.
    """
    place = Path(folder)
    if (compared := place / "comparison.json").is_file():
        return Result(place, json.loads(compared.read_text("utf-8")))
    return Result(place, json.loads((place / "manifest.json").read_text("utf-8"))["summary"])


def _place(side: PathLike | Result) -> PathLike:
    return side.folder or "" if isinstance(side, Result) else side


def _written(command: str, words: Iterable[PathLike], out: PathLike, options: dict[str, Any]) -> Result:
    """Runs a command that leaves a folder, and reads it. Rows need CSV where nothing reads Parquet."""
    run(command, words, {"csv": not any(_libraries()), **options, "out": out}, (0, OVER_LIMIT))
    return read(out)


def run(command: str, words: Iterable[PathLike], options: dict[str, Any], allowed: Iterable[int] = (0,)) -> str:
    """Runs a command of the program and returns its stdout. Other threads run meanwhile; Ctrl-C ends the program.

    Raises RunError for an exit code that is not `allowed`, FileNotFoundError if there is no program.
    """
    named, progress = options.get("program"), options.get("progress", False)
    line = [program_named(named), command, *_flags(options), "--", *(os.fspath(word) for word in words)]
    # The program draws its bar on a terminal alone.
    ours, theirs = os.openpty() if progress and os.name == "posix" else os.pipe()
    with open(ours, "rb", buffering=0) as said, tempfile.TemporaryFile() as printed:
        try:
            child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=printed, stderr=theirs)
        finally:
            os.close(theirs)
        with child:
            try:
                heard = "".join(_pieces(said, progress))
            except BaseException:
                # In good order: what is finished stays, and the same call continues there.
                child.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
                child.wait()
                raise
        if child.returncode not in allowed:
            raise RunError(_message(heard), child.returncode)
        printed.seek(0)
        return printed.read().decode()


def program_named(program: PathLike | None) -> str:
    """Returns the program to run: `program`, else that of $DEADLOOP, of this package, or of the path.

    Raises FileNotFoundError if there is none.
    """
    named = os.fspath(program) if program else os.environ.get("DEADLOOP")
    wanted = [named] if named else [*_carried(), "deadloop"]
    for one in wanted:
        if found := shutil.which(one):
            return found
    raise FileNotFoundError(f"no program {wanted[-1]}: install a wheel of deadloop that carries it, or set $DEADLOOP to it")


def _carried() -> Iterator[str]:
    """Yields the place of the program that the wheel of this package brought, if it brought one."""
    with suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("deadloop") or ():
            if file.name in ("deadloop", "deadloop.exe"):
                yield str(file.locate())


def _flags(options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if name in ("program", "progress"):  # of this module
            continue
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            yield flag
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                yield f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}"


def _pieces(said: Any, shown: bool) -> Iterator[str]:
    """Yields stderr as it comes, and shows it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with suppress(OSError):  # how a terminal ends whose program is gone
        while True:
            # Ctrl-C interrupts no read where polars is imported: its handler has the system begin it again.
            while os.name == "posix" and not select.select([said], [], [], 0.2)[0]:
                pass
            if not (piece := said.read(65536)):
                break
            yield (text := decoder.decode(piece))
            if shown:
                print(text, end="", file=sys.stderr, flush=True)


def _message(heard: str) -> str:
    """Returns the program's message: the last that it said."""
    lines = re.sub(r"\r\n?", "\n", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", heard))
    return re.split(r"^deadloop: ", lines, flags=re.MULTILINE)[-1].strip()


def _libraries() -> Iterator[Any]:
    """Yields the libraries of frames that read Parquet here."""
    for name, reader in (("polars", "polars"), ("pandas", "pyarrow")):
        with suppress(ImportError):
            importlib.import_module(reader)
            yield importlib.import_module(name)


def _value(cell: str) -> Any:
    """Returns a cell of CSV as a number, text, or None if it is empty."""
    try:
        return int(cell) if cell.isdecimal() else float(cell)
    except ValueError:
        return cell or None


@dataclass(frozen=True)
class Shard:
    """One shard of a sweep, as a function of its number that any engine can carry to where it runs."""

    corpus: str
    out: str
    options: dict[str, Any]
    of: int

    def __call__(self, number: int) -> str:
        """Runs shard `number`, from 1, and returns the folder of its part. A part that exists is left as it is."""
        part = f"{self.out}.part-{number}-of-{self.of}"
        run("sweep", [self.corpus], {**self.options, "shard": f"{number}/{self.of}", "out": part})
        return part


Map = Callable[[Shard, Iterable[int]], Iterable[str]]


def sweep(
    corpus: PathLike, out: PathLike, *, grid: PathLike, shards: int = 8, map: Map = map, **options: Option
) -> Result:
    """Scores every cell of a grid in shards, `deadloop sweep CORPUS`, and joins them to the bytes of one run. See `tune`.

    `map` carries the shards to where they run: the built-in one, that of a pool, of Dask's client, or what
    `deadloop.spark` and `deadloop.ray` bring. Each worker needs the corpus, the folder of `out` and the program
    under the same names. Parts stay beside `out`, as `OUT.part-I-of-N`, for who runs it again.
    """
    if shards < 1:
        raise ValueError(f"shards is {shards}; expected 1 or more")
    shard = Shard(os.fspath(corpus), os.fspath(out), {"grid": grid, **options}, shards)
    return merge(list(map(shard, range(1, shards + 1))), out, program=options.get("program"))


def merge(parts: Iterable[PathLike], out: PathLike, **options: Option) -> Result:
    """Joins the parts that shards left: `deadloop merge PART... --out OUT`. See `tune`."""
    run("merge", parts, {**options, "out": out}, (0, OVER_LIMIT))
    return read(out)
