"""Guards that stop dead loops in LLM streams.

    guards = deadloop.Guards.recommended()
    for chunk in deadloop.watch(client.chat.completions.create(stream=True, ...), guards):
        ...  # raises deadloop.LoopError, and closes the connection, where the model goes in circles

| to find | look in |
|---|---|
| a guard, fed by hand, and what it decides | `Guards`, `Guard`, `Decision` |
| a stream of a client through a guard | `watch`, `awatch` |
| every stream of a client, without a change of its calls | `deadloop.http` |
| the loop of an agent: its turns, calls and results | `deadloop.agents` |
| texts that are there already: a frame, a table, a list | `scan` |
| LiteLLM | `deadloop.integrations` |
| the program's commands, and their tables | `tune`, `replay`, `compare`, `explain`, `read`, `Result` |
| a sweep in shards | `sweep`, `merge`, `deadloop.spark`, `deadloop.ray` |
"""

from deadloop import agents, http, ray, spark
from deadloop._alarm import Alarm, Decision, LoopError, Met
from deadloop._deadloop import Guard, Guards, Live, __version__
from deadloop._options import BlindGuardWarning
from deadloop._run import Result, RunError, compare, explain, merge, read, replay, sweep, tune
from deadloop._scan import scan
from deadloop._watch import AsyncWatch, Watch, awatch, watch

__all__ = [
    "Alarm",
    "AsyncWatch",
    "BlindGuardWarning",
    "Decision",
    "Guard",
    "Guards",
    "Live",
    "LoopError",
    "Met",
    "Result",
    "RunError",
    "Watch",
    "__version__",
    "agents",
    "awatch",
    "compare",
    "explain",
    "http",
    "merge",
    "ray",
    "read",
    "replay",
    "scan",
    "spark",
    "sweep",
    "tune",
    "watch",
]
