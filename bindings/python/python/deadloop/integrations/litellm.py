"""LiteLLM's proxy: a guardrail that ends streams at a dead loop.

    guardrails:
      - guardrail_name: deadloop
        litellm_params:
          guardrail: deadloop_guardrail.Guardrail   # a file beside the config with the line below
          mode: post_call
          default_on: true

    from deadloop.integrations.litellm import Guardrail

`$DEADLOOP_SETTINGS` names the settings file; without it the recommended guards watch. Every alarm goes to the
log `deadloop`, also of a guard that only warns or observes and ends nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from typing import Any

from litellm.integrations.custom_guardrail import CustomGuardrail

from deadloop._alarm import Alarm
from deadloop._deadloop import Guards
from deadloop._watch import awatch

log = logging.getLogger("deadloop")


class Guardrail(CustomGuardrail):  # type: ignore[misc]
    """Ends each streamed response at a dead loop, with a last chunk that says `length`."""

    def __init__(self, guards: Guards | None = None, **options: Any) -> None:
        """`options`: what LiteLLM hands to every guardrail."""
        settings = os.environ.get("DEADLOOP_SETTINGS")
        found = Guards.load(settings) if settings else Guards.recommended()
        self.guards = guards or found
        super().__init__(**options)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """A streamed response, chunk by chunk."""
        model = str(request_data.get("model") or "")

        def tell(alarm: Alarm) -> None:
            log.warning("%s: %s: %s", model, alarm.response, alarm.log_line)

        watched = awatch(response, self.guards, model=model, on_alarm=tell, on_refuse=tell, on_warning=tell)
        async with watched as chunks:
            async for chunk in chunks:
                yield chunk
