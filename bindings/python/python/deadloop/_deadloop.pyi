import os
from collections.abc import Iterable, Sequence
from typing import Any, final

from typing_extensions import Self, disjoint_base

from deadloop._alarm import Alarm, Decision

__all__ = ["Chunks", "Guard", "Guards", "Live", "__version__"]

__version__: str

@disjoint_base
class Guards:
    """The guards of a settings file, compiled once. One for the whole program; threads share it."""

    def __new__(cls, toml: str, name: str = "settings") -> Self:
        """The guards of the settings in a text; `name` is what errors call it.

        Raises ValueError (with line and column) where it is none.
        """

    @classmethod
    def recommended(cls) -> Self:
        """The guard on text that deadloop recommends, on every model."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The guards of a settings file, as `deadloop tune` writes it.

        `"recommended"` and `"recommended-agents"` are names of what deadloop recommends, where no such file is there: on text,
        and on the calls and the text of an agent's run.

        Raises OSError where it cannot be read, ValueError (with line and column) where it is none.
        """

    @classmethod
    def parse(cls, toml: str, name: str = "settings") -> Self:
        """The same as `Guards(toml, name)`."""

    @property
    def id(self) -> str:
        """The name of the settings in every report."""

    def answering(self, task: str = "", user: Sequence[str] = ...) -> Guards:
        """The same guards for responses that answer this: those of the task, where settings have some, and each has heard
        what the user wrote (`prompt = "skip"`). Cheap: one for each request."""

    def guard(self, model: str = "") -> Guard:
        """A fresh guard for a request to this model, or for a run of it."""

    def live(self, model: str | None = None) -> Live:
        """A fresh guard for the bytes of a streamed response; without a model the first name that it gives."""

    def chunks(self, model: str | None = None) -> Chunks:
        """A fresh guard for the chunks of a streamed response as JSON; without a model the first name that they give."""

    def blind(self, feeds: Sequence[str], model: str = "") -> list[str]:
        """Which guards never alarm where nothing but `feeds` comes, each with what it misses: `stall: no silence`.

        Of: `reasoning`, `answer`, `arguments`, `calls`, `results`, `messages of users`, `turns`, `handoffs`, `silence`, `ends`.
        """

    def reads(self, feed: str, model: str = "") -> bool:
        """Whether some guard never alarms without that."""

    def scan(self, rows: Sequence[tuple[str | None, str | None, str | None]]) -> list[Alarm | None]:
        """Thinking, answer and model of finished texts: the first alarm of each. Other threads run meanwhile."""

@final
class Guard:
    """The guard of one stream or run: push what arrives, in the order in which it arrives. Threads may share it.

    Each method returns a Decision. Once it says `stop`, the guard reads nothing more and says so each time.
    """

    def push(self, text: str, channel: str) -> Decision:
        """Takes the next chunk of `reasoning`, `answer` or `arguments`. Raises ValueError for another channel."""

    def call(self, name: str, arguments: Any = None, id: str | None = None) -> Decision:
        """Takes a call of a tool, before it is run.

        Args:
            name: The tool.
            arguments: JSON text as the model wrote it, or what it means. Text that came through `push` before is that call's.
            id: What joins the call to its result.

        Returns:
            `refuse`: the call is not to be run.
        """

    def result(self, id: str | None, content: Any, error: bool | None = None) -> Decision:
        """Takes the result of a call: a text, or what is written as JSON. `error`: whether it failed; None where nobody knows."""

    def turn(self, agent: str | None = None) -> Decision:
        """A turn begins: the model is asked. `agent`: whose turn it is, where there are several."""

    def user(self, text: str) -> Decision:
        """A message of the user. The first is the task."""

    def handoff(self, from_: str, to: str) -> Decision:
        """An agent chose the next one."""

    def silence(self, seconds: float) -> Decision:
        """Nothing has come for so long: since the last event, not since the last silence.

        Raises ValueError for a number below 0.
        """

    def finish(self, reason: str | None = None) -> Decision:
        """The response or the run has ended."""

    def closed(self) -> Decision:
        """The connection is gone; nothing has said that this is the end."""

    @property
    def fired(self) -> bool:
        """Whether it has stopped the stream."""

    @property
    def alarm(self) -> Alarm | None:
        """Why it has stopped the stream, if it has."""

    def fresh(self) -> Guard:
        """A guard for the next request, which knows nothing of what this one has read."""

@final
class Chunks:
    """A guard on the chunks of one streamed response, as JSON. Of several answers each has a guard of its own."""

    def feed(self, chunk: str) -> list[Decision]:
        """Takes the next chunk; gives what there is to do or to tell: mostly nothing. What is no chunk is left alone."""

    def text(self, text: str) -> list[Decision]:
        """Takes a piece of plain text: of the answer, and of the thinking between `<think>` and `</think>`."""

    def silence(self, seconds: float) -> list[Decision]:
        """Nothing has come for so long."""

    def end(self) -> list[Decision]:
        """The response is over: what was held back is judged too."""

@final
class Live:
    """A guard on the bytes of one streamed response: server-sent events or JSON lines."""

    def feed(self, chunk: bytes | bytearray | memoryview) -> bytes:
        """Takes the next bytes; gives those that may be passed on: after the alarm none. Other threads run meanwhile."""

    def silence(self, seconds: float) -> None:
        """Nothing has come for so long."""

    def end(self) -> None:
        """The response is over: what was held back is judged too."""

    @property
    def alarm(self) -> Alarm | None:
        """Why the response has to be cut, once it has."""

    def warnings(self) -> list[Alarm]:
        """Takes the alarms that only warn or observe and were not asked for yet."""

    def refusals(self) -> list[Alarm]:
        """Takes the alarms that refuse a call of the response and were not asked for yet. They cut nothing."""

    @property
    def ending(self) -> bytes:
        """What ends a response that is cut here, in the words of its API; empty where that is not known."""
