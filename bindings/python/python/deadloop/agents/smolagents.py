"""smolagents under a guard: its tools are told of, and a stop ends the run.

    run = guard(agent)              # a ToolCallingAgent or CodeAgent; before each run
    agent.run("Which road?")        # raises deadloop.LoopError
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smolagents import ActionStep

from deadloop._deadloop import Guards
from deadloop._options import OnWarning
from deadloop.agents._run import Run

# What the task is, only the run knows that begins later.
FEEDS = ("reasoning", "answer", "arguments", "calls", "results", "turns")


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
    run = Run(guards, model=model, on_refuse=on_refuse, on_warning=on_warning, feeds=FEEDS, where="a run of smolagents", strict=strict)
    for name, tool in agent.tools.items():
        if name != "final_answer":
            inner = getattr(tool.forward, "__wrapped__", tool.forward)  # what an earlier guard had wrapped
            tool.forward = _guarded(run, name, list(tool.inputs), inner)

    def step(memory: Any, agent: Any) -> None:
        if agent.__dict__.get("_deadloop") is run:
            run.says(memory.model_output)
            run.check()
            run.turn()

    agent._deadloop = run
    agent.step_callbacks.register(ActionStep, step)
    run.turn()
    return run


def _guarded(run: Run, name: str, inputs: list[str], forward: Callable[..., Any]) -> Callable[..., Any]:
    """What a tool does, under the guard of a run."""

    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(inputs, args, strict=False)) | kwargs
        return run.run(name, given, lambda: forward(*args, **kwargs))

    guarded.__wrapped__ = forward  # type: ignore[attr-defined]
    return guarded
