"""`Loop`: the loop of an agent that asks OpenAI or Anthropic and runs the calls itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from deadloop._alarm import LoopError
from deadloop._deadloop import Guards
from deadloop._json import get, text
from deadloop._options import OnWarning
from deadloop.agents._run import Run


class Call(NamedTuple):
    """A call of a response."""

    id: str
    name: str
    arguments: Any


class Loop:
    """Runs the calls of each response under a guard, and gives their results as the API takes them.

    `run` is the whole step: it tells the guard of the turn, of what the model said and thought, of its calls and results.
    """

    def __init__(
        self,
        tools: Mapping[str, Callable[..., Any]],
        guards: Guards | None = None,
        *,
        task: str | None = None,
        model: str = "",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """A run that begins now.

        Args:
            tools: The functions, by the names under which the model calls them. They take the arguments by keyword.
            guards: `recommended-agents` where none are given.
            task: What the user asked for.
            model: Whose guard watches.
            on_refuse: Called with each alarm that refuses a call; without it `on_warning` is.
            on_warning: Called with each alarm of a guard that only warns or observes.
            strict: Whether settings with a guard that sees nothing here raise ValueError; else a warning names it, once.
        """
        self.tools = tools
        self.state = Run(guards, model=model, on_refuse=on_refuse, on_warning=on_warning, strict=strict)
        if task is not None:
            self.state.user(task)

    def run(self, response: Any) -> list[Any]:
        """Runs the calls of a response: of OpenAI (responses, chat completions) or Anthropic, as an object or a dict.

        A tool that fails gives the model its error. A refused call gives it the reason.

        Returns:
            What goes into the conversation after the response; empty where it calls no tool.

        Raises:
            LoopError: The guard stops the run.
        """
        api = _api(response)
        return api.results([(call, *self._ran(call)) for call in self._heard(api, response)])

    async def arun(self, response: Any) -> list[Any]:
        """The same where tools are coroutine functions, or some of them."""
        api = _api(response)
        ran = []
        for call in self._heard(api, response):
            content, error = self._ran(call)
            if inspect.isawaitable(content):
                content, error = await self._awaited(call, content)
            ran.append((call, content, error))
        return api.results(ran)

    def _heard(self, api: Any, response: Any) -> list[Call]:
        """Tells of the turn and of its texts. Gives its calls."""
        self.state.turn()
        for channel, said in api.texts(response):
            self.state.says(said, channel)
        return list(api.calls(response))

    def _ran(self, call: Call) -> tuple[Any, bool]:
        """The result of a call, and whether it failed. Of a coroutine nothing is told yet."""
        if (refusal := self.state.call(call.name, call.arguments, call.id)) is not None:
            return refusal, True
        try:
            given = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
            content = self._tool(call.name)(**(given or {}))
        except LoopError:
            raise
        except Exception as e:
            return self._told(call, f"{type(e).__name__}: {e}", True)
        return (content, False) if inspect.isawaitable(content) else self._told(call, text(content), False)

    async def _awaited(self, call: Call, content: Any) -> tuple[str, bool]:
        try:
            return self._told(call, text(await content), False)
        except LoopError:
            raise
        except Exception as e:
            return self._told(call, f"{type(e).__name__}: {e}", True)

    def _told(self, call: Call, content: str, error: bool) -> tuple[str, bool]:
        self.state.result(call.id, content, error)
        return content, error

    def _tool(self, name: str) -> Callable[..., Any]:
        if (tool := self.tools.get(name)) is None:
            raise LookupError(f"there is no tool {name!r}; expected one of: {', '.join(self.tools)}")
        return tool


class _Responses:
    """OpenAI's responses."""

    @staticmethod
    def texts(response: Any) -> Iterator[tuple[str, Any]]:
        for item in get(response, "output") or ():
            channel = "reasoning" if get(item, "type") == "reasoning" else "answer"
            for part in (*(get(item, "summary") or ()), *(get(item, "content") or ())):
                yield channel, get(part, "text") or get(part, "refusal")

    @staticmethod
    def calls(response: Any) -> Iterator[Call]:
        for item in get(response, "output") or ():
            if get(item, "type") == "function_call":
                yield Call(get(item, "call_id"), get(item, "name"), get(item, "arguments"))

    @staticmethod
    def results(ran: list[tuple[Call, str, bool]]) -> list[Any]:
        return [{"type": "function_call_output", "call_id": call.id, "output": content} for call, content, _ in ran]


class _Chat:
    """Chat completions."""

    @staticmethod
    def texts(response: Any) -> Iterator[tuple[str, Any]]:
        message = get(get(response, "choices")[0], "message")
        yield "reasoning", get(message, "reasoning_content") or get(message, "reasoning")
        yield "answer", get(message, "content") or get(message, "refusal")

    @staticmethod
    def calls(response: Any) -> Iterator[Call]:
        message = get(get(response, "choices")[0], "message")
        for call in get(message, "tool_calls") or ():
            function = get(call, "function")
            yield Call(get(call, "id"), get(function, "name"), get(function, "arguments"))

    @staticmethod
    def results(ran: list[tuple[Call, str, bool]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": call.id, "content": content} for call, content, _ in ran]


class _Anthropic:
    """Anthropic's messages."""

    @staticmethod
    def texts(response: Any) -> Iterator[tuple[str, Any]]:
        for block in get(response, "content") or ():
            yield "reasoning", get(block, "thinking")
            yield "answer", get(block, "text")

    @staticmethod
    def calls(response: Any) -> Iterator[Call]:
        for block in get(response, "content") or ():
            if get(block, "type") == "tool_use":
                yield Call(get(block, "id"), get(block, "name"), get(block, "input"))

    @staticmethod
    def results(ran: list[tuple[Call, str, bool]]) -> list[Any]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": error} for call, content, error in ran
        ]
        return [{"role": "user", "content": blocks}] if blocks else []


def _api(response: Any) -> type[_Responses] | type[_Chat] | type[_Anthropic]:
    """Whose response it is."""
    for field, api in (("output", _Responses), ("choices", _Chat), ("content", _Anthropic)):
        if isinstance(get(response, field), (list, tuple)) and (field != "choices" or get(response, field)):
            return api
    raise TypeError(
        f"this {type(response).__name__} is no response of OpenAI or Anthropic: expected `output`, `choices` or `content`; "
        "of a stream take the final message"
    )
