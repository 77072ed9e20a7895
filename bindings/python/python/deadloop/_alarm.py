"""`Alarm`: why a stream was stopped. `Decision`: what a guard wants done about an event."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Action = Literal["continue", "refuse", "stop"]


@dataclass(frozen=True)
class Met:
    """A threshold that was met: its name, its value in the settings, and what was measured."""

    param: str
    value: Any
    measured: Any


@dataclass(frozen=True)
class Alarm:
    """A dead loop, found in a live stream or a run. Positions count the units of its channel, chars for text."""

    detector: str
    """The detector that fired."""
    member: int
    """Which guard of the list that is, counted from 0."""
    response: str
    """What it does: `stop`; `refuse` where one tool call is not to be run; `warn` and `observe` end nothing."""
    channel: str
    """`reasoning`, `answer` or `arguments`; of a run `tools` or `turns`."""
    kind: str
    """What kind of loop it is: `short-sequence`, `paragraph`, `ordered-list`, ..."""
    check: str
    """The check of the detector that decided."""
    thresholds: tuple[Met, ...]
    """The thresholds that were met."""
    exact: int
    """The position after which a detector that sees one char at a time knows."""
    delivered: int
    """The end of the chunk that holds it: what had arrived."""
    onset: int
    """Where the second copy begins, as far as the detector could see."""
    period: int
    """Length of one copy; 0 where there are no exact copies."""
    copies: int
    """Whole copies in a row, the first included."""
    unit: str
    """What repeats, cut to 80 chars."""
    event: int
    """How many chunks had been pushed before."""
    calls: int
    """Tool calls by then."""
    turns: int
    """Turns of an agent by then."""
    what: str
    """What repeats, in numbers: `7 copies of 36 chars`."""
    log_line: str
    """All of it in one line, for a log."""
    user_message: str
    """A sentence for the person who waits, in English or Chinese."""
    refusal: str
    """A sentence for the model, as the result of a call that was not run, in English or Chinese."""

    @classmethod
    def of_json(cls, text: str) -> Alarm:
        """The alarm that `json` wrote."""
        fields = json.loads(text)
        fields["thresholds"] = tuple(Met(**met) for met in fields["thresholds"])
        return cls(**fields)

    def json(self) -> str:
        """The alarm as JSON, as every part of deadloop writes it."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True)
class Decision:
    """What a guard wants done about an event: the answer of `Guard.push`, `call`, `result` and the others.

    It is true where something has to be done, so that `if decision := guard.call(...)` reads as it runs:

        decision = guard.call("search", arguments)
        if decision.action == "refuse": ...  # do not run this call; tell the model decision.alarm.refusal
        if decision.action == "stop": ...    # the run is over
    """

    action: Action = "continue"
    """`continue`; `refuse`: that call is not to be run, the run goes on; `stop`: nothing more is to be read or run."""
    alarm: Alarm | None = None
    """Why, where it refuses or stops."""
    warnings: tuple[Alarm, ...] = ()
    """Alarms of guards whose `response` is `warn` or `observe`: of each guard the first. They decide nothing."""

    def __bool__(self) -> bool:
        """Whether it refuses or stops."""
        return self.action != "continue"


CONTINUE = Decision()


class LoopError(Exception):
    """A stream was stopped because the model goes in circles. `alarm` says why."""

    def __init__(self, alarm: Alarm) -> None:
        super().__init__(alarm)
        self.alarm = alarm

    def __str__(self) -> str:
        return self.alarm.log_line
