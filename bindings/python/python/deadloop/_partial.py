"""Sums by box as Arrow tables: what `Plan.partial` and `Plan.scores` give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# The columns of a table of sums that name a place; all others are sums.
PLACE = ("block", "box", "latency")


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as e:
        raise ImportError("sums are Arrow tables: pip install 'deadloop[arrow]'") from e
    return pyarrow


def table(columns: dict[str, list[Any]], by: Sequence[str]) -> Any:
    """What the native half counted, with the fields that sums are kept apart by under their own names."""
    pa = _arrow()
    text = {"box": pa.string(), "setting": pa.string()}
    made: dict[str, Any] = {}
    for name, values in columns.items():
        if name.startswith("key"):
            own, of = f"by.{by[int(name[3:])]}", pa.string()
        elif name.rpartition("_")[2] in ("p50", "p90", "p95"):
            own, of = name, pa.float64()
        else:
            own, of = name, text.get(name, pa.int64())
        made[own] = pa.array(values, of)
    return pa.table(made)


def columns_of(tables: Iterable[Any]) -> tuple[dict[str, list[Any]], list[str]]:
    """The columns of such tables one under the other, for the native half; and the fields."""
    pa = _arrow()
    one = pa.concat_tables(tables)
    by = [name[3:] for name in one.column_names if name.startswith("by.")]
    names = {f"by.{field}": f"key{i}" for i, field in enumerate(by)}
    # A sum that an engine made may have another type than the numbers that it adds.
    columns = {names.get(name, name): one.column(name).to_pylist() for name in one.column_names}
    return columns, by
