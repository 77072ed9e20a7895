"""Guards that stop dead loops in LLM streams.

    guards = deadloop.Guards.recommended()
    for chunk in deadloop.watch(client.chat.completions.create(stream=True, ...), guards):
        ...  # raises deadloop.LoopError, and closes the connection, where the model goes in circles

| to find | look in |
|---|---|
| a guard, fed by hand | `Guards`, `Guard` |
| a stream of a client through a guard | `watch`, `awatch` |
| every stream of a client, without a change of its calls | `deadloop.http` |
| LiteLLM, LangChain, transformers | `deadloop.integrations` |
| a sweep in shards, and what came of it | `sweep`, `merge`, `read_scores` |
| a sweep of rows in tables, on any engine | `Plan`, `deadloop.cluster`, `deadloop.spark`, `deadloop.ray` |
"""

from deadloop import cluster, http, ray, spark
from deadloop._alarm import Alarm, LoopError, Met
from deadloop._deadloop import Guard, Guards, Live, Plan, __version__
from deadloop._sweep import merge, read_scores, sweep
from deadloop._watch import AsyncWatch, Watch, awatch, watch

__all__ = [
    "Alarm",
    "AsyncWatch",
    "Guard",
    "Guards",
    "Live",
    "LoopError",
    "Met",
    "Plan",
    "Watch",
    "__version__",
    "awatch",
    "cluster",
    "http",
    "merge",
    "ray",
    "read_scores",
    "spark",
    "sweep",
    "watch",
]
