"""Guards for the loops of agents: a run's turns, calls and results, as they happen.

    run = deadloop.agents.Run()                              # the guard: recommended-agents
    run.user(task)
    while True:
        run.turn()                                           # raises deadloop.LoopError
        ...
        result = run.run(call.name, call.arguments, lambda: search(**arguments), call.id)

| to find | look in |
|---|---|
| a run that you tell of by hand, and functions as tools | `Run` |
| OpenAI's Agents SDK | `deadloop.agents.openai_agents` |
| LangChain's and LangGraph's agents | `deadloop.agents.langchain` |
| recipes for other frameworks | `docs/python.md` |

Each module needs its framework, and is imported where it is used. A call that a guard refuses is not run: the model gets a
result that says why. A stop raises `deadloop.LoopError`.
"""

from deadloop.agents._run import Run

__all__ = ["Run"]
