"""transformers: a stopping criterion that ends each row of a batch at its dead loop."""

from __future__ import annotations

from typing import Any

import torch
from transformers import StoppingCriteria

from deadloop import _options
from deadloop._alarm import Alarm
from deadloop._deadloop import Guard, Guards
from deadloop._options import OnWarning, Told

# Tokens that are decoded before the new ones: what a token means can depend on the one before it.
CONTEXT = 4


class _Row:
    """One row of the batch: its guard, and how far it has been read."""

    def __init__(self, guard: Guard, start: int) -> None:
        self.guard = guard
        self.start = start
        self.read = start

    def push(self, tokenizer: Any, ids: list[int], channel: str, told: Told) -> bool:
        """Reads what is new, as far as it is whole chars. Whether the row is over."""
        if self.guard.fired:
            return True
        from_ = max(self.start, self.read - CONTEXT)
        before = tokenizer.decode(ids[from_ : self.read], skip_special_tokens=True)
        now = tokenizer.decode(ids[from_:], skip_special_tokens=True)
        if now.endswith("\ufffd") or not now.startswith(before):
            if len(ids) - self.read < CONTEXT * 2:
                return False  # a char whose other bytes are still to come
            before = ""
            now = tokenizer.decode(ids[self.read :], skip_special_tokens=True)
        self.read = len(ids)
        return told.hears(self.guard.push(now[len(before) :], channel)) is not None


class LoopCriteria(StoppingCriteria):  # type: ignore[misc]
    """`model.generate(..., stopping_criteria=StoppingCriteriaList([LoopCriteria(tokenizer, prompt_length)]))`.

    `alarms` has an alarm for each row that was stopped, None for the others.
    """

    def __init__(
        self,
        tokenizer: Any,
        prompt_length: int,
        guards: Guards | None = None,
        *,
        model: str = "",
        channel: str = "answer",
        on_warning: OnWarning | None = None,
        strict: bool = False,
    ) -> None:
        """`prompt_length`: tokens of the prompt, which are not judged. One criterion for each generation.

        `on_warning` is called with each alarm of a guard that only warns or observes; the row goes on.
        """
        guards = guards or Guards.recommended()
        _options.see(guards, [channel], "a row of transformers", model=model, strict=strict)
        self._first = guards.guard(model)
        self._rows: list[_Row] = []
        self._tokenizer = tokenizer
        self._prompt = prompt_length
        self._channel = channel
        self._told = Told("stop", None, on_warning)

    @property
    def alarms(self) -> list[Alarm | None]:
        """Why each row was stopped."""
        return [row.guard.alarm for row in self._rows]

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Which rows are over."""
        while len(self._rows) < len(input_ids):
            self._rows.append(_Row(self._first.fresh(), self._prompt))
        rows = zip(self._rows, input_ids.tolist(), strict=True)
        over = [row.push(self._tokenizer, ids, self._channel, self._told) for row, ids in rows]
        return torch.tensor(over, dtype=torch.bool, device=input_ids.device)
