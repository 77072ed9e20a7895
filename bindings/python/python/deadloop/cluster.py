"""A sweep whose transcripts lie in tables: rows in, records out, on any engine; then one result folder.

    table = rows("corpus")                                   # or Parquet of your own: file, line, text
    plan = plan_of("corpus", "grid.toml")
    made = [records(plan, part) for part in parts]           # anywhere: a pool, Spark, Ray, Dask, Daft
    join(made, plan, "out", corpus="corpus")                 # the bytes of `deadloop sweep`

| column | what |
|---|---|
| `file` | which file of the corpus in the order of their names, from 0 |
| `line` | its line there, from 1 |
| `text` | the line: one transcript as JSON, text or bytes |
| `record` | what every setting says of it, its labels beside it: no text |
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from deadloop._deadloop import Plan
from deadloop._sweep import PathLike, merge, program_named, run

COLUMNS = ("file", "line", "text")
PACKED = {".zst": "zstd", ".gz": "gzip"}


def plan_of(corpus: PathLike, grid: PathLike, by: Iterable[str] = ()) -> Plan:
    """The plan of a grid file, with the labels, splits and card that lie in the folder of a corpus."""
    folder = Path(corpus)

    def beside(name: str) -> str | None:
        path = folder / name
        return path.read_bytes().decode() if path.is_file() else None

    text = Path(grid).read_text()
    return Plan(text, os.fspath(grid), beside("labels.csv"), beside("splits.csv"), beside("dataset.toml"), list(by))


def rows(corpus: PathLike) -> Any:
    """The lines of a corpus of JSON lines (packed or not) as a table: how one becomes Parquet, for a test or a cluster."""
    import pyarrow as pa

    found: list[tuple[int, int, bytes]] = []
    names = sorted((Path(corpus) / "transcripts").iterdir())
    for number, path in enumerate(names):
        if ".jsonl" not in path.suffixes:
            raise ValueError(f"{path}: expected JSON lines; a corpus in Parquet has its own rows")
        with pa.input_stream(str(path), compression=PACKED.get(path.suffix)) as stream:
            lines = stream.read().split(b"\n")
        found.extend((number, i, line) for i, line in enumerate(lines, 1) if line.strip())
    files, places, texts = zip(*found, strict=True) if found else ((), (), ())
    return pa.table({"file": pa.array(files, pa.int64()), "line": pa.array(places, pa.int64()), "text": texts})


def records(plan: Plan, table: Any) -> Any:
    """What every setting of a plan says of the rows of a table (or record batch): `file, line, record`."""
    import pyarrow as pa

    files, lines, texts = (table.column(name).to_pylist() for name in COLUMNS)
    made = plan.records(texts, list(zip(files, lines, strict=True)))
    columns = [pa.array(files, pa.int64()), pa.array(lines, pa.int64()), pa.array(made, pa.binary())]
    return type(table).from_arrays(columns, names=["file", "line", "record"])


def join(
    made: Iterable[Any],
    plan: Plan,
    out: PathLike,
    *options: str,
    corpus: PathLike,
    program: PathLike | None = None,
    force: bool = False,
) -> Path:
    """Makes of tables that `records` made, in any order, what `deadloop sweep CORPUS OPTIONS...` leaves. Gives `out`.

    `corpus` is looked at for the names of its files and what lies beside them; its texts are not read. In memory is
    what a merge holds: a record a transcript. Beside `out` it writes `OUT.grid.toml` and `OUT.part-1-of-1`, which stay
    unless it fails, and `OUT.records.jsonl`, which does not.

    Raises FileExistsError where one of these or `out` is there already, before it takes a table; `force=True`
    overwrites them. Raises RuntimeError with what the program said where it refuses.
    """
    place = os.fspath(out)
    grid, lines, part = f"{place}.grid.toml", f"{place}.records.jsonl", f"{place}.part-1-of-1"
    if not force:
        _refuse_used([grid, lines, part], place)
    named = program_named(program)
    fields = [word for name in plan.by for word in ("--by", name)]
    shard = ["--shard", "1/1", "--records", lines, "--out", part, "--force", "--quiet"]
    try:
        with open(lines, "wb") as file:
            file.write(plan.header + b"\n")
            for _, _, record in sorted(_each(made)):
                file.write(record + b"\n")
        Path(grid).write_text(plan.grid)
        run([named, "sweep", os.fspath(corpus), "--grid", grid, *fields, *options, *shard])
        return merge([part], out, *(["--force"] if force else []), program=program)
    except BaseException:
        # Else the next try would have to overwrite what came to nothing.
        Path(grid).unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        Path(lines).unlink(missing_ok=True)


def _refuse_used(beside: list[str], out: str) -> None:
    """Raises FileExistsError where something would be overwritten; an empty folder for `out` is free."""
    used = [path for path in beside if os.path.lexists(path)]
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        used.append(out)
    if used:
        told = f"{', '.join(used)}: already there; choose another out, move it away, or pass force=True to overwrite it"
        raise FileExistsError(told)


def _each(made: Iterable[Any]) -> Iterator[tuple[int, int, bytes]]:
    for table in made:
        columns = (table.column(name).to_pylist() for name in ("file", "line", "record"))
        yield from zip(*columns, strict=True)
