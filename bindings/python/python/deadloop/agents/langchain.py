"""LangChain's and LangGraph's agents: a middleware that guards their loop.

    agent = create_agent(model, tools, middleware=[LoopMiddleware()])          # raises deadloop.LoopError
    ToolNode(tools, wrap_tool_call=guard.wrap_tool_call)                        # in a graph of your own

The run is what its messages say: the guard reads them anew each time. So a thread that comes back from a checkpoint is
watched from its beginning, and one middleware serves any number of runs at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from deadloop._alarm import LoopError
from deadloop._deadloop import Guards
from deadloop._json import get, text
from deadloop._options import OnWarning
from deadloop.agents._run import FEEDS, Run


class LoopMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Refuses calls, and ends the run at a dead loop."""

    def __init__(
        self,
        guards: Guards | None = None,
        *,
        model: str = "",
        on_alarm: Literal["raise", "stop"] = "raise",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """`guards`: `recommended-agents` where none are given.

        `on_alarm`: `"raise"` raises LoopError; `"stop"` ends the run with a message that says why. The rest as in
        `deadloop.agents.Run`; `on_warning` may be told of one alarm several times, for the messages are read anew.
        """
        super().__init__()
        if on_alarm not in ("raise", "stop"):
            raise ValueError(f"on_alarm is {on_alarm!r}; expected 'raise' or 'stop'")
        self.on_alarm = on_alarm
        self._options: dict[str, Any] = {"model": model, "on_refuse": on_refuse, "on_warning": on_warning}
        self._guards = guards
        Run(guards, model=model, strict=strict, feeds=FEEDS, where="a run of LangChain")  # what it says of blind guards, it says now

    @hook_config(can_jump_to=["end"])  # type: ignore[untyped-decorator]
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The model is to be asked again."""
        try:
            self._read(get(state, "messages") or ())
        except LoopError as stopped:
            if self.on_alarm == "raise":
                raise
            return {"jump_to": "end", "messages": [AIMessage(stopped.alarm.user_message)]}
        return None

    @hook_config(can_jump_to=["end"])  # type: ignore[untyped-decorator]
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same where the run is awaited."""
        ended: dict[str, Any] | None = self.before_model(state, runtime)
        return ended

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """A call is to be run."""
        refused = self._refused(request)
        return handler(request) if refused is None else refused

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same where it is awaited."""
        refused = self._refused(request)
        return await handler(request) if refused is None else refused

    def _refused(self, request: Any) -> ToolMessage | None:
        """What the model gets instead of a call that the guard refuses, or at which it stops."""
        call = request.tool_call
        state = request.state
        messages = state if isinstance(state, list) else get(state, "messages") or ()
        try:
            refusal = self._read(messages, call["id"])
        except LoopError as stopped:
            if self.on_alarm == "raise":
                raise
            refusal = stopped.alarm.refusal  # the run ends before the model is asked again
        if refusal is None:
            return None
        return ToolMessage(refusal, tool_call_id=call["id"], name=call["name"], status="error")

    def _read(self, messages: Iterable[Any], until: str | None = None) -> str | None:
        """Tells a guard of all messages, or up to the call `until`; what refuses that one."""
        run = Run(self._guards, **self._options)
        given: set[str] = set()
        for message in messages:
            if isinstance(message, HumanMessage):
                run.user(text(message.content))
            elif isinstance(message, ToolMessage):
                if message.tool_call_id not in given:
                    run.result(message.tool_call_id, text(message.content), message.status == "error")
            elif isinstance(message, AIMessage):
                run.turn(message.name)
                run.says(get(message.additional_kwargs, "reasoning_content"), "reasoning")
                for block in message.content if isinstance(message.content, list) else ():
                    run.says(get(block, "thinking") or get(block, "reasoning"), "reasoning")
                run.says(message.text)
                for call in message.tool_calls:
                    refusal = run.call(call["name"], call["args"], call["id"])
                    if call["id"] == until:
                        return refusal
                    if refusal is not None and call["id"] is not None:
                        given.add(call["id"])
        return None
