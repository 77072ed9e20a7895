"""OpenAI's Agents SDK: hooks that tell a guard of a run, and tools that it can refuse.

    hooks = LoopHooks()                                        # one for each run
    result = await Runner.run(hooks.guard(agent), "Which road?", hooks=hooks)   # raises deadloop.LoopError
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from agents import Agent, FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail

from deadloop import _json
from deadloop._alarm import Alarm, LoopError
from deadloop._deadloop import Guards
from deadloop._options import OnWarning
from deadloop.agents._run import FEEDS, Run


class LoopHooks(RunHooks[Any]):  # type: ignore[misc]
    """Hooks of one run. `alarm` says why it was stopped.

    The SDK wraps what is raised while tools run. So a run that is stopped there ends before the model is asked again.
    """

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
        super().__init__()
        self.state = Run(
            guards,
            model=model,
            on_refuse=on_refuse,
            on_warning=on_warning,
            feeds=(*FEEDS, "handoffs"),
            where="a run of the Agents SDK",
            strict=strict,
        )
        self._asked = False
        self._called: set[str] = set()

    @property
    def alarm(self) -> Alarm | None:
        """Why the run was stopped, if it was."""
        return self.state.alarm

    def guard(self, agent: Agent[Any], known: dict[int, Agent[Any]] | None = None) -> Agent[Any]:
        """The agent, and those it hands off to, with tools whose calls can be refused. Without it a refusal is only told."""
        known = {} if known is None else known
        if (found := known.get(id(agent))) is not None:
            return found
        own = known[id(agent)] = agent.clone()
        check: Any = ToolInputGuardrail(self._check, name="deadloop")
        own.tools = [
            dataclasses.replace(tool, tool_input_guardrails=[*(tool.tool_input_guardrails or ()), check])
            if isinstance(tool, FunctionTool)
            else tool
            for tool in agent.tools
        ]
        own.handoffs = [self.guard(to, known) if isinstance(to, Agent) else to for to in agent.handoffs]
        return own

    def _check(self, data: Any) -> ToolGuardrailFunctionOutput:
        context = data.context
        self._called.add(context.tool_call_id)
        try:
            refusal = self.state.call(context.tool_name, context.tool_arguments, context.tool_call_id)
        except LoopError as stopped:
            refusal = stopped.alarm.refusal
        if refusal is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(refusal)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: str | None, input_items: list[Any]) -> None:
        """The model is asked."""
        self.state.check()
        if not self._asked:
            self._asked = True
            for item in input_items:
                if _json.get(item, "role") == "user":
                    self.state.user(_json.get(item, "content"))
        self.state.turn(agent.name)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The model has answered."""
        for channel, said in _texts(response):
            self.state.says(said, channel)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        """A tool runs. Its call was told before, where the agent is guarded."""
        id = getattr(context, "tool_call_id", None)
        if id is not None and id not in self._called:
            self._called.add(id)
            with contextlib.suppress(LoopError):
                self.state.tell(self.state.guard.call(tool.name, context.tool_arguments, id))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """A tool has run."""
        with contextlib.suppress(LoopError):
            self.state.result(getattr(context, "tool_call_id", None), result)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """An agent chose the next one."""
        self.state.handoff(from_agent.name, to_agent.name)


def _texts(response: Any) -> Iterator[tuple[str, Any]]:
    """What a response thinks and says, with the channel of each."""
    for item in _json.get(response, "output") or ():
        channel = "reasoning" if _json.get(item, "type") == "reasoning" else "answer"
        for part in (*(_json.get(item, "summary") or ()), *(_json.get(item, "content") or ())):
            yield channel, _json.get(part, "text") or _json.get(part, "refusal")
