"""Pydantic AI: a capability that guards each run of an agent.

    agent = Agent(model, capabilities=[LoopGuard()])
    await agent.run("Which road?")                       # raises deadloop.LoopError
"""

from __future__ import annotations

from typing import Any

from pydantic_ai.capabilities import AbstractCapability

from deadloop._alarm import Alarm
from deadloop._deadloop import Guards
from deadloop._json import get
from deadloop._options import OnWarning
from deadloop.agents._run import Run


class LoopGuard(AbstractCapability[Any]):  # type: ignore[misc]
    """Refuses calls, and ends a run at a dead loop. Every run of the agent has a guard of its own."""

    def __init__(
        self,
        guards: Guards | None = None,
        *,
        model: str = "",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """`guards`: `recommended-agents` where none are given; the rest as in `deadloop.agents.Run`."""
        self._guards = guards
        self._options: dict[str, Any] = {
            "model": model,
            "on_refuse": on_refuse,
            "on_warning": on_warning,
            "where": "a run of Pydantic AI",
            "strict": strict,
        }
        self.state = Run(guards, **self._options)

    @property
    def alarm(self) -> Alarm | None:
        """Why the run was stopped, if it was: of what `for_run` gave."""
        return self.state.alarm

    async def for_run(self, ctx: Any) -> LoopGuard:
        """A guard for the run that begins."""
        return LoopGuard(self._guards, **{k: v for k, v in self._options.items() if k != "where"})

    async def before_run(self, ctx: Any) -> None:
        """The run begins."""
        if ctx.prompt is not None:
            self.state.user(ctx.prompt)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """The model is asked."""
        self.state.turn()
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """The model has answered."""
        for part in response.parts:
            kind = get(part, "part_kind")
            if kind in ("thinking", "text"):
                self.state.says(part.content, "reasoning" if kind == "thinking" else "answer")
        return response

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """A call is to be run."""
        return await self.state.arun(call.tool_name, call.args or args, lambda: handler(args), call.tool_call_id)
