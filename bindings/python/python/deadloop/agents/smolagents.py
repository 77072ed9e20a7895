"""smolagents under a guard: its tools are told of, and a stop ends the run.

    run = guard(agent)              # a ToolCallingAgent or CodeAgent; before each run
    agent.run("Which road?")        # raises deadloop.LoopError
"""

from __future__ import annotations

from typing import Any

from smolagents import ActionStep

from deadloop._deadloop import Guards
from deadloop._options import OnWarning
from deadloop.agents._run import Run


def guard(
    agent: Any,
    guards: Guards | None = None,
    *,
    model: str = "",
    on_refuse: OnWarning | None = None,
    on_warning: OnWarning | None = None,
    strict: bool = False,
) -> Run:
    """Puts the tools of an agent under a guard; called again, under a new one. The run that it begins.

    `guards`: `recommended-agents` where none are given; the rest as in `deadloop.agents.Run`. The texts of the model are told
    when its step is over.
    """
    run = Run(guards, model=model, on_refuse=on_refuse, on_warning=on_warning, where="a run of smolagents", strict=strict)
    for name, tool in agent.tools.items():
        if name != "final_answer":
            inner = getattr(tool.forward, "__wrapped__", tool.forward) if getattr(tool, "_deadloop", False) else tool.forward
            tool.forward = run.tool(inner, name)
            tool._deadloop = True

    def step(memory: Any, agent: Any = None) -> None:
        if agent_run(agent) is run:
            run.says(memory.model_output)
            run.check()
            run.turn()

    run.turn()
    agent._deadloop = run
    agent.step_callbacks.register(ActionStep, step)
    return run


def agent_run(agent: Any) -> Run | None:
    """The run that an agent is in."""
    return getattr(agent, "_deadloop", None)
