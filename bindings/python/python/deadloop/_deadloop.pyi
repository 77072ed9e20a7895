import os
from collections.abc import Iterable, Sequence
from typing import Any, final

from deadloop._alarm import Alarm

__all__ = ["Guard", "Guards", "Live", "Plan", "__version__"]

__version__: str

@final
class Guards:
    """The guards of a settings file, compiled once. One for the whole program; threads share it."""

    @staticmethod
    def recommended() -> Guards:
        """The guard that deadloop recommends, on every model."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Guards:
        """The guards of a settings file, as `deadloop tune` writes it.

        Raises OSError where it cannot be read, ValueError (with line and column) where it is none.
        """

    @staticmethod
    def parse(toml: str, name: str = "settings") -> Guards:
        """The guards of the settings in a text; `name` is what errors call it."""

    @property
    def id(self) -> str:
        """The name of the settings in every report."""

    def guard(self, model: str = "") -> Guard:
        """A fresh guard for a request to this model."""

    def live(self, model: str | None = None) -> Live:
        """A fresh guard for the bytes of a streamed response; without a model the name that it gives."""

@final
class Guard:
    """The guard of one stream, from its first chunk to its end or its alarm."""

    def push(self, channel: str, text: str) -> Alarm | None:
        """Takes the next chunk of `reasoning`, `answer` or `arguments`.

        Gives the alarm once; from then on None: the stream is over. Raises ValueError for another channel.
        """

    @property
    def fired(self) -> bool:
        """Whether it has alarmed."""

    @property
    def alarm(self) -> Alarm | None:
        """Its alarm, for who did not get it from `push`."""

    def warnings(self) -> list[Alarm]:
        """Takes the alarms that only warn or observe and were not asked for yet: of each guard of the list the first."""

    def fresh(self) -> Guard:
        """A guard for the next request, which knows nothing of what this one has read."""

@final
class Live:
    """A guard on the bytes of one streamed response: server-sent events or JSON lines."""

    def feed(self, chunk: bytes) -> bytes:
        """Takes the next bytes; gives those that may be passed on: after the alarm none."""

    def end(self) -> None:
        """The response is over: what was held back is judged too."""

    @property
    def alarm(self) -> Alarm | None:
        """Why the response has to be cut, once it has."""

    def warnings(self) -> list[Alarm]:
        """Takes the alarms that only warn or observe and were not asked for yet."""

    @property
    def ending(self) -> bytes:
        """What ends a response that is cut here, in the words of its API; empty where that is not known."""

@final
class Plan:
    """Every setting of a grid, grouped so that each text is measured once. Its length is the number of cells."""

    def __new__(
        cls,
        grid_toml: str,
        name: str = ...,
        labels: str | None = None,
        splits: str | None = None,
        card: str | None = None,
        by: Sequence[str] = ...,
    ) -> Plan:
        """The product of a grid's values. Raises ValueError (with line and column) where it is no grid.

        `labels`, `splits`, `card`: the texts of labels.csv, splits.csv and dataset.toml, which travel with the plan;
        `by`: further fields to break scores down by. A plan can be pickled: engines carry it to where they run.
        """

    @property
    def fingerprint(self) -> str:
        """A text that tells this plan from another."""

    @property
    def grid(self) -> str:
        """The text of its grid."""

    @property
    def by(self) -> list[str]:
        """The fields to break scores down by."""

    @property
    def header(self) -> bytes:
        """The first line of a file of records: `deadloop sweep --records` refuses those of another plan by it."""

    def __len__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, str, str | None, str | None, str | None, list[str]]: ...
    def setting(self, cell: int) -> str:
        """The name of a cell's setting in every report."""

    def records(self, lines: Sequence[str | bytes], at: Sequence[tuple[int, int]] | None = None) -> list[bytes]:
        """What every setting says of transcripts, a line of a part each: no text, and all that scoring needs.

        A line is JSON: `at` (file, line), `digest`, `case` (who, how long, what is true), and `decided`: for each block
        of the plan where its cells first alarm: `stops`, and `regions` of cells that share one. `at`: the file, counted
        from 0, and the line of each; else file 0 from line 1. Raises ValueError for a line that is no transcript, and for
        a label that is wrong.
        """

    def partial(self, lines: Sequence[str | bytes], by: Sequence[str] = ...) -> Any:
        """What transcripts add up to, as an Arrow table; `by`: fields that are kept apart, as `by.<field>`.

        `block, box` say which cells (no box: what all share), the counts what they change; rows with a `latency` count
        `n` hits. All of it adds: sum by `by.*, block, box, latency`, in any order. The number of rows is bounded by the
        grid, not by the corpus, but for latencies.
        """

    def scores(self, tables: Iterable[Any]) -> Any:
        """Tables of `partial` painted: a row for each key and setting with its counts and quantiles, as Arrow."""
