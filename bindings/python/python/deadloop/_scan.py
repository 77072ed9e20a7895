"""`scan`: what a guard would have said of texts that are there already."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from deadloop import _options
from deadloop._alarm import Alarm
from deadloop._deadloop import Guards

# Rows that are read at once: between two such batches progress is told.
BATCH = 4096

# What is told of each alarm, and of what kind it is. `Alarm` says what they mean.
COLUMNS: dict[str, type] = {
    "detector": str,
    "response": str,
    "channel": str,
    "kind": str,
    "exact": int,
    "delivered": int,
    "onset": int,
    "period": int,
    "copies": int,
    "unit": str,
    "log_line": str,
}

Progress = bool | Callable[[int, int | None], object]
Row = tuple[str | None, str | None, str | None]
_Reader = Callable[[Any, Any], tuple[Iterator[Row], int | None]]
_Giver = Callable[[Any, list[Alarm | None]], Any]


def scan(
    data: Any,
    *,
    text: str | None = "text",
    reasoning: str | None = None,
    model: str | None = None,
    settings: Guards | str | None = None,
    progress: Progress = False,
) -> Any:
    """Runs a guard over texts, and gives the first alarm of each as columns; nulls where there is none.

    Args:
        data: A frame of pandas or polars, a table or batch of Arrow, or an iterable of dicts or texts.
        text: The column of the answer. `<think>` in it is split off as the settings say. None: there is none.
        reasoning: The column of the thinking, where it is apart.
        model: The column of the model's name, for settings that have guards for some.
        settings: Guards, the path of a settings file, or `"recommended"`.
        progress: True shows it on stderr; something to call is called with the rows done and of how many (None: nobody knows).

    Returns:
        Of the same kind as `data`, row for row (pandas: with its index), with the columns `detector`, `response`, `channel`,
        `kind`, `exact`, `delivered`, `onset`, `period`, `copies`, `unit`, `log_line`; of an iterable a list of dicts. An alarm
        that stops or refuses comes before one that only warns.

    Raises:
        ValueError: There is no such column.
    """
    guards = settings if isinstance(settings, Guards) else Guards.load(settings or "recommended")
    names = (reasoning, text, model)
    if text is None and reasoning is None:
        raise ValueError("there is nothing to scan: name a column, text= or reasoning=")
    feeds = [name for name, column in (("reasoning", reasoning), ("answer", text)) if column is not None]
    _options.see(guards, ["reasoning", *feeds] if text is not None else feeds, "a scan of texts")
    kind = type(data).__module__.partition(".")[0]
    reader: _Reader = _READ[kind] if kind in _READ else _items
    giver: _Giver = _GIVE[kind] if kind in _GIVE else _dicts
    read, total = reader(data, names)
    alarms = _alarms(guards, read, total, progress)
    return giver(data, alarms)


def _alarms(guards: Guards, rows: Iterator[Row], total: int | None, progress: Progress) -> list[Alarm | None]:
    found: list[Alarm | None] = []
    tell = _bar() if progress is True else progress
    while batch := list(islice(rows, BATCH)):
        found += guards.scan(batch)
        if callable(tell):
            tell(len(found), total)
    return found


def _bar() -> Callable[[int, int | None], None]:
    start = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        of = "" if total is None else f" of {total:,} ({done / max(total, 1):.0%})"
        end = "\n" if done == total else ""
        print(f"\rscan: {done:,}{of} rows, {time.monotonic() - start:.1f} s", end=end, file=sys.stderr, flush=True)

    return tell


def _columns(columns: Callable[[str], Iterable[Any]], there: Iterable[str], names: Any, rows: int) -> tuple[Iterator[Row], int]:
    """Rows of columns by their names."""
    there = [str(name) for name in there]
    for name in names:
        if name is not None and name not in there:
            raise ValueError(f"there is no column {name!r}; expected one of: {', '.join(there)}")
    parts = [[None] * rows if name is None else columns(name) for name in names]
    return zip(*parts, strict=True), rows


def _pandas(data: Any, names: Any) -> tuple[Iterator[Row], int]:
    def column(name: str) -> list[str | None]:
        return [value if isinstance(value, str) else None for value in data[name]]

    return _columns(column, data.columns, names, len(data))


def _polars(data: Any, names: Any) -> tuple[Iterator[Row], int]:
    if hasattr(data, "collect"):
        raise TypeError("this frame of polars is lazy: scan(frame.collect(), ...)")
    return _columns(lambda name: data[name].to_list(), data.columns, names, data.height)


def _arrow(data: Any, names: Any) -> tuple[Iterator[Row], int]:
    def column(name: str) -> list[str | None]:
        values: list[str | None] = data.column(name).to_pylist()
        return values

    return _columns(column, data.schema.names, names, data.num_rows)


def _items(data: Any, names: Any) -> tuple[Iterator[Row], int | None]:
    def row(item: Any) -> Row:
        if isinstance(item, str):
            return (item, None, None) if names[1] is None else (None, item, None)
        reasoning, text, model = (None if name is None else item.get(name) for name in names)
        return reasoning, text, model

    return map(row, data), len(data) if hasattr(data, "__len__") else None


def _values(alarms: list[Alarm | None]) -> dict[str, list[Any]]:
    return {name: [None if alarm is None else getattr(alarm, name) for alarm in alarms] for name in COLUMNS}


def _as_pandas(data: Any, alarms: list[Alarm | None]) -> Any:
    import pandas

    kinds = {name: "Int64" if kind is int else "object" for name, kind in COLUMNS.items()}
    columns = {name: pandas.Series(values, index=data.index, dtype=kinds[name]) for name, values in _values(alarms).items()}
    return pandas.DataFrame(columns, index=data.index)


def _as_polars(data: Any, alarms: list[Alarm | None]) -> Any:
    import polars

    schema = {name: polars.Int64 if kind is int else polars.String for name, kind in COLUMNS.items()}
    return polars.DataFrame(_values(alarms), schema=schema)


def _as_arrow(data: Any, alarms: list[Alarm | None]) -> Any:
    import pyarrow

    schema = pyarrow.schema([(name, pyarrow.int64() if kind is int else pyarrow.string()) for name, kind in COLUMNS.items()])
    values = _values(alarms)
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.RecordBatch.from_pydict(values, schema=schema)
    return pyarrow.Table.from_pydict(values, schema=schema)


def _dicts(data: Any, alarms: list[Alarm | None]) -> list[dict[str, Any]]:
    return [{name: None if alarm is None else getattr(alarm, name) for name in COLUMNS} for alarm in alarms]


_READ: dict[str, _Reader] = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
_GIVE: dict[str, _Giver] = {"pandas": _as_pandas, "polars": _as_polars, "pyarrow": _as_arrow}
