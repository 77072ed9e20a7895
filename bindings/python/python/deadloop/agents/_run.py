"""`Run`: a run of an agent under its guard."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from deadloop import _json, _options
from deadloop._alarm import Alarm, Decision, LoopError
from deadloop._deadloop import Guard, Guards
from deadloop._options import OnWarning, Told

# What a framework brings: no clock, no end of the run, and handoffs only where it has them.
FEEDS = ("reasoning", "answer", "arguments", "calls", "results", "messages of users", "turns")


@functools.cache
def recommended() -> Guards:
    """What watches a run where nothing else is asked for."""
    return Guards.load("recommended-agents")


class Run:
    """A run of an agent under its guard: tell it what happens, in the order in which it happens.

    Each method raises LoopError where the guard stops the run, and again at each later one: some frameworks catch what a tool
    raises. Threads may share it. One for each run.
    """

    def __init__(
        self,
        guards: Guards | None = None,
        *,
        model: str = "",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        feeds: Iterable[str] = (*FEEDS, "ends"),
        where: str = "the run of an agent",
        strict: bool = False,
    ) -> None:
        """A run that begins now.

        Args:
            guards: `recommended-agents` where none are given.
            model: Whose guard watches.
            on_refuse: Called with each alarm that refuses a call; without it `on_warning` is.
            on_warning: Called with each alarm of a guard that only warns or observes.
            feeds: What will be told, for the warning about guards that see nothing.
            where: What that warning calls it.
            strict: Whether such guards raise ValueError instead.
        """
        if guards is not None:
            _options.see(guards, feeds, where, model=model, strict=strict)
        self.guard: Guard = (guards or recommended()).guard(model)
        self._told = Told("raise", on_refuse, on_warning)
        self._ids = itertools.count(1)

    @property
    def alarm(self) -> Alarm | None:
        """Why the run was stopped, if it was."""
        return self.guard.alarm

    def check(self) -> None:
        """Raises LoopError if the run was stopped."""
        if (alarm := self.guard.alarm) is not None:
            raise LoopError(alarm)

    def user(self, text: Any) -> None:
        """A message of the user. The first is the task."""
        self.tell(self.guard.user(_json.text(text)))

    def turn(self, agent: str | None = None) -> None:
        """The model is asked; `agent`: whose turn it is, where there are several."""
        self.tell(self.guard.turn(agent))

    def says(self, text: Any, channel: str = "answer") -> None:
        """The model says something, or thinks it: `channel="reasoning"`."""
        if isinstance(text, str) and text:
            self.tell(self.guard.push(text, channel))

    def handoff(self, from_: str, to: str) -> None:
        """An agent chose the next one."""
        self.tell(self.guard.handoff(from_, to))

    def call(self, name: str, arguments: Any = "", id: str | None = None) -> str | None:
        """The model calls a tool, which has not run yet.

        Args:
            name: The tool.
            arguments: JSON text as the model wrote it, or what it means.
            id: What joins the call to its result.

        Returns:
            None: run it. A text: do not run it, this is its result for the model, and the guard has been told of it.
        """
        decision = self.guard.call(name, arguments, id)
        self.tell(decision)
        if decision.action != "refuse" or decision.alarm is None:
            return None
        self.result(id, decision.alarm.refusal, error=True)
        return decision.alarm.refusal

    def result(self, id: str | None, content: Any, error: bool | None = None) -> None:
        """What a call brought. `error`: whether it failed; None where nobody knows."""
        self.tell(self.guard.result(id, _json.text(content), error))

    def finish(self, reason: str | None = None) -> None:
        """The run is over. `reason`: why, in the words of the model's API."""
        self.tell(self.guard.finish(reason))

    def run(self, name: str, arguments: Any, execute: Callable[[], Any], id: str | None = None) -> Any:
        """Runs a call under the guard: what `execute` gives, or the text that refuses it."""
        id = id or self._id()
        if (refusal := self.call(name, arguments, id)) is not None:
            return refusal
        try:
            content = execute()
        except Exception as e:
            self._failed(id, e)
            raise
        self.result(id, content)
        return content

    async def arun(self, name: str, arguments: Any, execute: Callable[[], Awaitable[Any]], id: str | None = None) -> Any:
        """The same for a call that is awaited."""
        id = id or self._id()
        if (refusal := self.call(name, arguments, id)) is not None:
            return refusal
        try:
            content = await execute()
        except Exception as e:
            self._failed(id, e)
            raise
        self.result(id, content)
        return content

    def tool(self, function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
        """A function (or a coroutine function) as a tool under the guard, with the same name and signature."""
        called = name or function.__name__
        signature = inspect.signature(function)

        def arguments(args: Any, kwargs: Any) -> dict[str, Any]:
            return dict(signature.bind(*args, **kwargs).arguments)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def aguarded(*args: Any, **kwargs: Any) -> Any:
                return await self.arun(called, arguments(args, kwargs), lambda: function(*args, **kwargs))

            return aguarded

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return self.run(called, arguments(args, kwargs), lambda: function(*args, **kwargs))

        return guarded

    def _id(self) -> str:
        return f"call-{next(self._ids)}"

    def _failed(self, id: str, error: Exception) -> None:
        if isinstance(error, LoopError):
            return
        self.result(id, f"{type(error).__name__}: {error}", error=True)

    def tell(self, decision: Decision) -> None:
        """Tells of what the guard decided; raises LoopError where it stops. A refusal is told, and nothing else."""
        if (alarm := self._told.hears(decision)) is not None:
            raise LoopError(alarm)
