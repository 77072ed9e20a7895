"""LangChain: a callback that ends a run at a dead loop.

It sees what LangChain's callbacks see, which is the answer: the thinking of an OpenAI-style server is dropped
before them. A transport sees both (`ChatOpenAI(http_client=httpx.Client(transport=deadloop.http.Transport()))`):
prefer it where the model class takes one.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from deadloop import _chunks
from deadloop._alarm import LoopError
from deadloop._deadloop import Guard, Guards
from deadloop._watch import OnWarning


class LoopCallback(BaseCallbackHandler):  # type: ignore[misc]
    """`model.stream(prompt, config={"callbacks": [LoopCallback()]})`: raises LoopError, which ends the run."""

    raise_error = True
    run_inline = True

    def __init__(
        self, guards: Guards | None = None, *, model: str = "", on_warning: OnWarning | None = None
    ) -> None:
        """`guards`: the recommended ones where none are given. `model`: whose guard watches.

        `on_warning` is called with each alarm of a guard that only warns or observes; the run goes on.
        """
        super().__init__()
        self._first = (guards or Guards.recommended()).guard(model)
        self._guards: dict[UUID, Guard] = {}
        self._on_warning = on_warning

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        """A chunk of a run."""
        guard = self._guards.get(run_id)
        if guard is None:
            guard = self._guards[run_id] = self._first.fresh()
        message = getattr(chunk, "message", None)
        texts = _chunks.texts(token if message is None else message)
        for _key, channel, text in texts:
            alarm = guard.push(channel, text)
            if self._on_warning is not None:
                for warning in guard.warnings():
                    self._on_warning(warning)
            if alarm is not None:
                raise LoopError(alarm)

    def on_llm_end(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """A run is over."""
        self._guards.pop(run_id, None)

    def on_llm_error(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """A run has failed."""
        self._guards.pop(run_id, None)
