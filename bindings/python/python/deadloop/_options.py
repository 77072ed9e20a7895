"""What `watch`, the transports and the frameworks are told alike: what happens at an alarm; and which guards are blind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Literal

from deadloop._alarm import Alarm, Decision, LoopError
from deadloop._deadloop import Guards

OnAlarm = Literal["raise", "throw", "stop"] | Callable[[Alarm], object]
OnWarning = Callable[[Alarm], object]

# What the response of a model's server brings: what tools answer is the client's, and turns begin with it.
RESPONSE = ("reasoning", "answer", "arguments", "calls", "silence", "ends")
# Where text alone comes.
TEXT = ("reasoning", "answer", "arguments")

_said: set[tuple[str, str]] = set()


class BlindGuardWarning(UserWarning):
    """Settings have a guard that never sees, in the place where it is used, what it looks for."""


def see(guards: Guards, feeds: Iterable[str], where: str, *, model: str = "", strict: bool = False) -> None:
    """Says once, by name, which guards never see anything where only `feeds` come; raises ValueError if `strict`."""
    blind = guards.blind(tuple(feeds), model)
    if not blind:
        return
    said = (
        f"{where} brings no guard what it never gets: {'; '.join(blind)}. Take them out of the settings, feed a Guard by hand "
        "(guard.call, guard.result, guard.turn), or guard the loop of an agent with deadloop.agents"
    )
    if strict:
        raise ValueError(said)
    if (guards.id, where) not in _said:
        _said.add((guards.id, where))
        warnings.warn(said, BlindGuardWarning, stacklevel=4)


class Told:
    """Who is told of what a guard says, and what happens at an alarm."""

    def __init__(
        self, on_alarm: OnAlarm = "raise", on_refuse: OnWarning | None = None, on_warning: OnWarning | None = None
    ) -> None:
        if not (callable(on_alarm) or on_alarm in ("raise", "throw", "stop")):
            raise ValueError(f"on_alarm is {on_alarm!r}; expected 'raise', 'stop' or something to call")
        # The npm package has the other word.
        self.on_alarm: OnAlarm = "raise" if on_alarm == "throw" else on_alarm
        self.on_refuse = on_refuse
        self.on_warning = on_warning

    def hears(self, decision: Decision) -> Alarm | None:
        """Tells of warnings and refusals. Gives the alarm that ends the stream."""
        for warning in decision.warnings:
            self.warns(warning)
        if decision.action == "refuse" and decision.alarm is not None:
            self.refuses(decision.alarm)
        return decision.alarm if decision.action == "stop" else None

    def warns(self, warning: Alarm) -> None:
        """Tells of what decides nothing."""
        if self.on_warning is not None:
            self.on_warning(warning)

    def refuses(self, alarm: Alarm) -> None:
        """Tells of a refusal: to who asked for them, else as a warning."""
        tell = self.on_refuse or self.on_warning
        if tell is not None:
            tell(alarm)

    def ends(self, alarm: Alarm) -> None:
        """At the end of a stream: raises where it should, or calls."""
        if self.on_alarm == "raise":
            raise LoopError(alarm)
        if callable(self.on_alarm):
            self.on_alarm(alarm)
