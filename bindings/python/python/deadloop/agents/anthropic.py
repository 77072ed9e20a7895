"""Anthropic's tool runner under a guard.

    run = Run()
    runner = client.beta.messages.tool_runner(tools=guarded([search], run), ...)
    for message in watch(runner, run): ...      # raises deadloop.LoopError
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool

from deadloop.agents._loop import _Anthropic
from deadloop.agents._run import Run


class _Tool(BetaBuiltinFunctionTool):  # type: ignore[misc]
    def __init__(self, tool: Any, run: Run) -> None:
        self._tool = tool
        self._run = run

    @property
    def name(self) -> str:
        return str(self._tool.name)

    def to_dict(self) -> Any:
        return self._tool.to_dict()

    def call(self, input: object) -> Any:
        return self._run.run(self.name, input, lambda: self._tool.call(input))


class _AsyncTool(BetaAsyncBuiltinFunctionTool):  # type: ignore[misc]
    def __init__(self, tool: Any, run: Run) -> None:
        self._tool = tool
        self._run = run

    @property
    def name(self) -> str:
        return str(self._tool.name)

    def to_dict(self) -> Any:
        return self._tool.to_dict()

    async def call(self, input: object) -> Any:
        return await self._run.arun(self.name, input, lambda: self._tool.call(input))


def guarded(tools: Iterable[Any], run: Run) -> list[Any]:
    """Tools of `beta_tool` and `beta_async_tool` under the guard of a run. Definitions without a function stay as they are."""

    def one(tool: Any) -> Any:
        if not callable(getattr(tool, "call", None)):
            return tool
        waits = isinstance(tool, BetaAsyncBuiltinFunctionTool) or "Async" in type(tool).__name__
        return _AsyncTool(tool, run) if waits else _Tool(tool, run)

    return [one(tool) for tool in tools]


def watch(runner: Any, run: Run) -> Iterator[Any]:
    """The messages of a tool runner. Calls run between two of them; where the guard stops there, no more is asked of the model."""
    for message in runner:
        _heard(message, run)
        yield message
        runner.generate_tool_call_response()  # the runner keeps it for its next request
        if run.alarm is not None:
            runner.close()
        run.check()


async def awatch(runner: Any, run: Run) -> AsyncIterator[Any]:
    """The same for an asynchronous runner."""
    async for message in runner:
        _heard(message, run)
        yield message
        await runner.generate_tool_call_response()
        if run.alarm is not None:
            await runner.close()
        run.check()


def _heard(message: Any, run: Run) -> None:
    run.check()
    run.turn()
    for channel, said in _Anthropic.texts(message):
        run.says(said, channel)
