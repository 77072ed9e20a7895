"""LangChain: a callback that ends a run at a dead loop.

It sees what LangChain's callbacks see, which is the answer: the thinking of an OpenAI-style server is dropped
before them. A transport sees both (`ChatOpenAI(http_client=httpx.Client(transport=deadloop.http.Transport()))`):
prefer it where the model class takes one.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from deadloop import _json, _options
from deadloop._alarm import LoopError
from deadloop._deadloop import Guards
from deadloop._options import OnWarning, Told


class LoopCallback(BaseCallbackHandler):  # type: ignore[misc]
    """`model.stream(prompt, config={"callbacks": [LoopCallback()]})`: raises LoopError, which ends the run."""

    raise_error = True
    run_inline = True

    def __init__(
        self,
        guards: Guards | None = None,
        *,
        model: str = "",
        on_refuse: OnWarning | None = None,
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """`guards`: the recommended ones where none are given. `model`: whose guard watches.

        `on_warning` is called with each alarm of a guard that only warns or observes; the run goes on. So it does where a call
        is refused, of which `on_refuse` is told (without it `on_warning`).
        """
        super().__init__()
        self._all = guards or Guards.recommended()
        _options.see(self._all, _options.TEXT, "a callback of LangChain", model=model, strict=strict)
        self._model = model or None
        self._told = Told("raise", on_refuse, on_warning)
        self._guards: dict[UUID, Any] = {}

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        """A chunk of a run."""
        guard = self._guards.get(run_id)
        if guard is None:
            guard = self._guards[run_id] = self._all.chunks(self._model)
        message = getattr(chunk, "message", None)
        decisions = guard.feed(_json.of_chunk(message)) if message is not None else guard.text(str(token))
        for decision in decisions:
            if (alarm := self._told.hears(decision)) is not None:
                raise LoopError(alarm)

    def on_llm_end(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """A run is over."""
        self._guards.pop(run_id, None)

    def on_llm_error(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """A run has failed."""
        self._guards.pop(run_id, None)
