"""Guards for the loops of agents: a run's turns, calls and results, as they happen.

    loop = deadloop.agents.Loop({"search": search})          # the guard: recommended-agents
    while True:
        response = client.responses.create(model=..., input=items, tools=...)
        items += response.output + (results := loop.run(response))   # raises deadloop.LoopError
        if not results:
            break

| to find | look in |
|---|---|
| a loop that you wrote, on OpenAI (responses, chat) or Anthropic | `Loop` |
| a run that you tell of by hand, and functions as tools | `Run` |
| OpenAI's Agents SDK | `deadloop.agents.openai_agents` |
| Anthropic's tool runner | `deadloop.agents.anthropic` |
| LangChain's and LangGraph's agents | `deadloop.agents.langchain` |
| a client session of MCP | `deadloop.agents.mcp` |
| Pydantic AI | `deadloop.agents.pydantic_ai` |
| smolagents | `deadloop.agents.smolagents` |

Each module needs its framework, and is imported where it is used. A call that a guard refuses is not run: the model gets a
result that says why. A stop raises `deadloop.LoopError`.
"""

from deadloop.agents._loop import Loop
from deadloop.agents._run import Run

__all__ = ["Loop", "Run"]
