"""A client session of MCP under a guard.

    async with ClientSession(read, write) as session:
        tools = guarded(session, run())
        await tools.call_tool("search", {"query": "road"})      # raises deadloop.LoopError
"""

from __future__ import annotations

from typing import Any

from mcp.types import CallToolResult

from deadloop._deadloop import Guards
from deadloop._json import dumps, get
from deadloop._options import OnWarning
from deadloop.agents._run import Run

# A session knows nothing of what the model says between its calls.
FEEDS = ("arguments", "calls", "results")


def run(
    guards: Guards | None = None,
    *,
    model: str = "",
    on_refuse: OnWarning | None = None,
    on_warning: OnWarning | None = None,
    strict: bool = False,
) -> Run:
    """A run of which nothing but calls and results is told. Several sessions of one agent share it."""
    return Run(
        guards,
        model=model,
        on_refuse=on_refuse,
        on_warning=on_warning,
        feeds=FEEDS,
        where="a session of MCP",
        strict=strict,
    )


class Guarded:
    """A session whose calls a guard sees. All else is the session's."""

    def __init__(self, session: Any, run: Run) -> None:
        self._session = session
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **options: Any) -> Any:
        """Calls a tool. A refusal is a result with an error; raises LoopError where the guard stops the run."""
        id = self._run._id()
        if (refusal := self._run.call(name, arguments or {}, id)) is not None:
            return CallToolResult.model_validate({"content": [{"type": "text", "text": refusal}], "isError": True})
        try:
            result = await self._session.call_tool(name, arguments, *args, **options)
        except Exception as e:
            self._run._failed(id, e)
            raise
        failed = get(result, "is_error")
        self._run.result(id, _text(result), bool(get(result, "isError") if failed is None else failed))
        return result


def guarded(session: Any, run: Run) -> Any:
    """The session, with a `call_tool` under the guard of a run."""
    return Guarded(session, run)


def _text(result: Any) -> str:
    """What a result says: its texts, and of anything else its JSON."""
    parts = get(result, "content") or ()
    return "\n".join(get(part, "text") if get(part, "type") == "text" else dumps(part) for part in parts)
