"""The loops of agents: real frameworks against the fake server, whose model `polls` makes one call on and on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deadloop
import pytest
from deadloop.agents import Run

TASK = "Wait for the plan to be committed."
# Refuses the third equal call in a row; stops once it has been asked for six of them.
REFUSES = '[[guard]]\ndetector = "duplicate"\nresponse = "refuse"\n[guard.params]\nn = 3\n'
STEPS = REFUSES + '[[guard]]\ndetector = "iterations"\n[guard.params]\nlimit = 6\n'
KIND = "same-call-same-result"


def brings(nth: int) -> str:
    """The nth answer of the tool."""
    return '{"status": "checking", "step": 2}'


def execute(request: dict[str, Any]) -> str:
    """Sends a request."""
    calls.append(request)
    return brings(len(calls))


calls: list[Any] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    calls.clear()


def steps() -> deadloop.Guards:
    return deadloop.Guards.parse(STEPS)


class Recorded:
    """The recorded run whose one GET never brings anything new."""

    def __init__(self, volatile: bool) -> None:
        path = Path(__file__).parents[2] / "tests" / "poll.jsonl"
        self.events: list[dict[str, Any]] = json.loads(path.read_text())["events"]
        results = [event for event in self.events if event["type"] == "tool_result"]
        if not volatile:
            for result in results:
                result["content"] = results[0]["content"]
        self.results = [result["content"] for result in results]

    def alarm(self) -> deadloop.Alarm | None:
        """What the guard says of the events as they are recorded."""
        guard = deadloop.Guards.load("recommended-agents").guard()
        for event in self.events:
            match event["type"]:
                case "user":
                    guard.user(event["text"])
                case "turn":
                    guard.turn()
                case "tool_call":
                    guard.call(event["name"], event["arguments"], event["id"])
                case "tool_result":
                    guard.result(event["id"], event["content"])
        return guard.alarm


def step(run: Run, response: Any, execute: Any) -> list[Any]:
    """Tells a run of a response of OpenAI, and runs its calls: the recipe of docs/python.md."""
    results = []
    for item in response.output:
        if item.type == "function_call":
            given = json.loads(item.arguments)
            result = run.run(item.name, item.arguments, lambda given=given: execute(**given), item.call_id)
            results.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
    return results


@pytest.mark.parametrize("volatile", [False, True])
def test_a_loop_of_openai_has_the_alarm_of_its_recording(server: Any, volatile: bool) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    recorded = Recorded(volatile)
    results = iter(recorded.results)
    run = Run()
    run.user("wait for the plan to be committed")
    items: list[Any] = [{"role": "user", "content": TASK}]
    try:
        for _ in recorded.results:
            run.turn()
            response = client.responses.create(model="polls", input=items)
            items += [*response.output, *step(run, response, lambda request: next(results))]
    except deadloop.LoopError as stopped:
        assert stopped.alarm == run.alarm
    wanted, found = recorded.alarm(), run.alarm
    assert (found and (found.detector, found.kind, found.exact)) == (wanted and (wanted.detector, wanted.kind, wanted.exact))
    # Whether each result has another id and another date or not: the third brought nothing new.
    assert found is not None and (found.kind, found.calls) == (KIND, 3)


def test_a_healthy_loop_ends_by_itself(server: Any) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    run = Run()
    items: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        run.turn()
        response = client.responses.create(model="works", input=items)
        results = step(run, response, execute)
        if not results:
            break
        items += [*response.output, *results]
    assert run.alarm is None and len(calls) == 4 and response.output_text == "It is done."


def test_each_response_of_a_guard_in_a_loop() -> None:
    told: list[deadloop.Alarm] = []
    for word, ran, alarms in (("refuse", 2, 3), ("warn", 5, 1), ("observe", 5, 1)):
        calls.clear(), told.clear()
        guards = deadloop.Guards.parse(REFUSES.replace("refuse", word))
        run = Run(guards, on_warning=told.append)
        outputs = [run.run("execute", '{"request": {}}', lambda: execute({})) for _ in range(5)]
        assert (len(calls), len(told), run.alarm) == (ran, alarms, None), word
        refused = [output for output in outputs if output.startswith("This call was not run: the model was making the same tool call")]
        assert len(refused) == 5 - ran, word
    run = Run(deadloop.Guards.parse(REFUSES.replace("refuse", "stop")))
    for _ in range(2):
        run.run("execute", {}, lambda: execute({}))
    for _ in range(2):  # and it stays so
        with pytest.raises(deadloop.LoopError):
            run.run("execute", {}, lambda: execute({}))


def test_what_goes_wrong_with_a_tool_is_told_to_the_guard() -> None:
    def fails() -> str:
        raise RuntimeError("no connection")

    run = Run(deadloop.Guards.parse('[[guard]]\ndetector = "error-run"\n[guard.params]\nn = 4\n'))
    for number in range(3):
        with pytest.raises(RuntimeError):
            run.run("execute", {"request": number}, fails)
    with pytest.raises(deadloop.LoopError):
        run.run("execute", {"request": 4}, fails)


async def test_a_function_as_a_tool() -> None:
    run = Run(steps())
    guarded = run.tool(execute)
    assert guarded.__name__ == "execute"
    assert [guarded({}).startswith("This call was not run") for _ in range(3)] == [False, False, True]

    async def wait(seconds: int) -> str:
        return "waited"

    waits = Run(steps()).tool(wait)
    assert [(await waits(1)).startswith("This") for _ in range(3)] == [False, False, True]


def agents_of(server: Any) -> Any:
    """OpenAI's Agents SDK on the fake server."""
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)

    def agent(model: str, name: str = "Solver", **options: Any) -> Any:
        chosen = agents.OpenAIResponsesModel(model, client)
        tools = [agents.function_tool(execute, strict_mode=False)]
        return agents.Agent(name, tools=tools, model=chosen, **options)

    return agents, agent


sdk = pytest.fixture(agents_of, name="sdk")


async def test_the_agents_sdk(sdk: Any) -> None:
    agents, agent = sdk
    from deadloop.agents.openai_agents import LoopHooks

    for guarded in (True, False):
        calls.clear()
        hooks = LoopHooks()
        solver = agent("polls")
        with pytest.raises(deadloop.LoopError) as stopped:
            await agents.Runner.run(hooks.guard(solver) if guarded else solver, TASK, hooks=hooks, max_turns=20)
        assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3) and hooks.alarm == stopped.value.alarm
    done = await agents.Runner.run(agent("works"), TASK, hooks=LoopHooks())
    assert done.final_output == "It is done."


async def test_a_refused_call_of_the_agents_sdk(sdk: Any) -> None:
    agents, agent = sdk
    from deadloop.agents.openai_agents import LoopHooks

    told: list[deadloop.Alarm] = []
    hooks = LoopHooks(steps(), on_refuse=told.append)
    with pytest.raises(deadloop.LoopError):
        await agents.Runner.run(hooks.guard(agent("polls")), TASK, hooks=hooks, max_turns=20)
    assert len(calls) == 2 and len(told) >= 3
    # One of an agent that is not guarded cannot be refused: it is told.
    hooks, told_before = LoopHooks(steps(), on_refuse=told.append), len(told)
    with pytest.raises(deadloop.LoopError):
        await agents.Runner.run(agent("polls"), TASK, hooks=hooks, max_turns=20)
    assert len(told) > told_before


async def test_agents_that_hand_off_to_each_other_are_guarded_once(sdk: Any) -> None:
    _, agent = sdk
    from deadloop.agents.openai_agents import LoopHooks

    one, two = agent("polls", "One"), agent("polls", "Two")
    one.handoffs, two.handoffs = [two], [one]
    guarded = LoopHooks().guard(one)
    assert guarded.handoffs[0].handoffs[0] is guarded and guarded.handoffs[0].tools[0].tool_input_guardrails
    assert not one.tools[0].tool_input_guardrails


def chat(server: Any, model: str) -> Any:
    langchain_openai = pytest.importorskip("langchain_openai")
    return langchain_openai.ChatOpenAI(model=model, base_url=server.url + "/v1", api_key="x", max_retries=0)


def test_langchain(server: Any) -> None:
    pytest.importorskip("langchain.agents")
    from deadloop.agents.langchain import LoopMiddleware
    from langchain.agents import create_agent
    from langchain_core.messages import HumanMessage

    def agent(model: str, guard: LoopMiddleware) -> Any:
        return create_agent(chat(server, model), [execute], middleware=[guard])

    task = {"messages": [HumanMessage(TASK)]}
    with pytest.raises(deadloop.LoopError) as stopped:
        agent("polls", LoopMiddleware()).invoke(task)
    assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3)
    calls.clear()
    ended = agent("polls", LoopMiddleware(on_alarm="stop")).invoke(task)
    assert "could not get out of it" in ended["messages"][-1].text and len(calls) == 3
    calls.clear()
    refused = agent("polls", LoopMiddleware(steps(), on_alarm="stop")).invoke(task)
    errors = [message for message in refused["messages"] if getattr(message, "status", "") == "error"]
    assert len(calls) == 2 and errors and errors[0].text.startswith("This call was not run")
    calls.clear()
    assert agent("works", LoopMiddleware()).invoke(task)["messages"][-1].text == "It is done."
    with pytest.raises(ValueError, match="expected 'raise' or 'stop'"):
        LoopMiddleware(on_alarm="halt")  # type: ignore[arg-type]


async def test_langchain_awaited(server: Any) -> None:
    pytest.importorskip("langchain.agents")
    from deadloop.agents.langchain import LoopMiddleware
    from langchain.agents import create_agent

    agent = create_agent(chat(server, "polls"), [execute], middleware=[LoopMiddleware()])
    with pytest.raises(deadloop.LoopError):
        await agent.ainvoke({"messages": [{"role": "user", "content": TASK}]})
    assert len(calls) == 3


def test_a_graph_of_langgraph(server: Any) -> None:
    pytest.importorskip("langgraph")
    from deadloop.agents.langchain import LoopMiddleware
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    guard = LoopMiddleware(steps())
    model = chat(server, "polls").bind_tools([execute])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([execute], wrap_tool_call=guard.wrap_tool_call))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    with pytest.raises(deadloop.LoopError):
        graph.compile().invoke({"messages": [("user", TASK)]})
    assert len(calls) == 2


async def plain(server: Any, model: str, told: Any) -> None:
    """A loop of one's own."""
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    run, items = Run(on_warning=told), [{"role": "user", "content": TASK}]
    while True:
        run.turn()
        response = client.responses.create(model=model, input=items)
        results = step(run, response, execute)
        if not results:
            return
        items += [*response.output, *results]


async def agents_sdk(server: Any, model: str, told: Any) -> None:
    agents, agent = agents_of(server)
    from deadloop.agents.openai_agents import LoopHooks

    hooks = LoopHooks(on_warning=told)
    await agents.Runner.run(hooks.guard(agent(model)), TASK, hooks=hooks, max_turns=50)


async def langgraph(server: Any, model: str, told: Any) -> None:
    pytest.importorskip("langchain.agents")
    from deadloop.agents.langchain import LoopMiddleware
    from langchain.agents import create_agent

    agent = create_agent(chat(server, model), [execute], middleware=[LoopMiddleware(on_warning=told)])
    agent.invoke({"messages": [("user", TASK)]}, {"recursion_limit": 200})


# Of each run the model, what its tool brings, how many calls run at most, and whether the guard stops it, or warns.
RUNS = {
    "twelve edits": ("works-12", lambda nth: "The file a.py has been updated.", 12, ""),
    "a test run again and again": ("polls", lambda nth: f"48 passed in {nth % 7 + 3}.{nth}1s", 3, "stops"),
    "forty calls in one message": ("calls-many", lambda nth: "ok 1", 3, "stops"),
    "a poll that ends": ("polls", lambda nth: "in_progress" if nth <= 25 else f"part {nth * nth} is done", 30, "warns"),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("framework", [plain, agents_sdk, langgraph])
async def test_runs_of_each_framework(server: Any, framework: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, answers, most, does = RUNS[name]
    monkeypatch.setitem(globals(), "brings", answers)
    told: list[deadloop.Alarm] = []
    if does == "stops":
        with pytest.raises(deadloop.LoopError):
            await framework(server, model, told.append)
        assert 2 <= len(calls) <= most
    else:
        await framework(server, model, told.append)
        assert len(calls) == most
    assert {alarm.calls for alarm in told} == ({10} if does == "warns" else set())


def test_a_framework_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    monkeypatch.delitem(sys.modules, "deadloop.agents.langchain", raising=False)
    with pytest.raises(ImportError, match="langchain"):
        import deadloop.agents.langchain  # noqa: F401
