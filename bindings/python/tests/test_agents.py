"""The loops of agents: real frameworks against the fake server, whose model `polls` makes one call on and on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deadloop
import pytest
from deadloop.agents import Loop, Run

TASK = "Wait for the plan to be committed."
# Refuses the third equal call in a row; stops once it has been asked for six of them.
REFUSES = '[[guard]]\ndetector = "duplicate"\nresponse = "refuse"\n[guard.params]\nn = 3\n'
STEPS = REFUSES + '[[guard]]\ndetector = "iterations"\n[guard.params]\nlimit = 6\n'
KIND = "same-call-same-result"


def execute(request: dict[str, Any]) -> str:
    """Sends a request."""
    calls.append(request)
    return '{"status": "checking", "step": 2}'


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


@pytest.mark.parametrize("volatile", [False, True])
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_loop_of_openai_has_the_alarm_of_its_recording(server: Any, api: str, volatile: bool) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    recorded = Recorded(volatile)
    results = iter(recorded.results)
    loop = Loop({"execute": lambda request: next(results)}, task="wait for the plan to be committed")
    items: list[Any] = [{"role": "user", "content": TASK}]
    try:
        for _ in recorded.results:
            if api == "responses":
                response = client.responses.create(model="polls", input=items)
                items += response.output
            else:
                response = client.chat.completions.create(model="polls", messages=items)
                items.append(response.choices[0].message)
            items += loop.run(response)
    except deadloop.LoopError as stopped:
        assert stopped.alarm == loop.state.alarm
    wanted, found = recorded.alarm(), loop.state.alarm
    assert (found and (found.detector, found.kind, found.exact)) == (wanted and (wanted.detector, wanted.kind, wanted.exact))
    # Whether each result has another id and another date or not: the third brought nothing new.
    assert found is not None and (found.kind, found.calls) == (KIND, 3)


def test_a_healthy_loop_ends_by_itself(server: Any) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
    loop = Loop({"execute": execute}, task=TASK)
    items: list[Any] = [{"role": "user", "content": TASK}]
    while True:
        response = client.responses.create(model="works", input=items)
        results = loop.run(response)
        if not results:
            break
        items += [*response.output, *results]
    assert loop.state.alarm is None and len(calls) == 4 and response.output_text == "It is done."


def response(*calls: tuple[str, str, str]) -> dict[str, Any]:
    """A response of OpenAI as a dict."""
    items = [{"type": "function_call", "call_id": id, "name": name, "arguments": given} for id, name, given in calls]
    return {"output": items}


def test_each_response_of_a_guard_in_a_loop() -> None:
    told: list[deadloop.Alarm] = []
    same = response(("1", "execute", '{"request": {}}'))
    for word, ran, alarms in (("refuse", 2, 3), ("warn", 5, 1), ("observe", 5, 1)):
        calls.clear(), told.clear()
        guards = deadloop.Guards.parse(REFUSES.replace("refuse", word))
        loop = Loop({"execute": execute}, guards, on_warning=told.append)
        outputs = [loop.run(same)[0]["output"] for _ in range(5)]
        assert (len(calls), len(told), loop.state.alarm) == (ran, alarms, None), word
        refused = [output for output in outputs if output.startswith("This call was not run: the model was making the same tool call")]
        assert len(refused) == 5 - ran, word
    loop = Loop({"execute": execute}, deadloop.Guards.parse(REFUSES.replace("refuse", "stop")))
    for _ in range(2):
        loop.run(same)
    for _ in range(2):  # and it stays so
        with pytest.raises(deadloop.LoopError):
            loop.run(same)


def test_what_goes_wrong_with_a_tool_is_told_to_the_model_and_the_guard() -> None:
    def fails(request: Any) -> str:
        raise RuntimeError("no connection")

    guards = deadloop.Guards.parse('[[guard]]\ndetector = "error-run"\n[guard.params]\nn = 4\n')
    loop = Loop({"execute": fails}, guards)
    outputs = [
        loop.run(response(("1", "execute", '{"request": 1}'))),
        loop.run(response(("2", "search", "{}"))),
        loop.run(response(("3", "execute", "{"))),
    ]
    said = [output[0]["output"] for output in outputs]
    assert said[0] == "RuntimeError: no connection" and "expected one of: execute" in said[1] and said[2].startswith("JSONDecodeError")
    with pytest.raises(deadloop.LoopError):
        loop.run(response(("4", "execute", '{"request": 2}')))
    with pytest.raises(TypeError, match="no response of OpenAI or Anthropic"):
        loop.run("text")


async def test_tools_that_are_awaited() -> None:
    async def later(request: Any) -> str:
        return execute(request)

    loop = Loop({"execute": later, "now": execute})
    parallel = response(("1", "execute", '{"request": 1}'), ("2", "now", '{"request": 2}'))
    outputs = await loop.arun(parallel)
    assert [output["call_id"] for output in outputs] == ["1", "2"] and len(calls) == 2


async def test_a_function_as_a_tool() -> None:
    run = Run(steps())
    guarded = run.tool(execute)
    assert guarded.__name__ == "execute"
    assert [guarded({}).startswith("This call was not run") for _ in range(3)] == [False, False, True]

    async def wait(seconds: int) -> str:
        return "waited"

    waits = Run(steps()).tool(wait)
    assert [(await waits(1)).startswith("This") for _ in range(3)] == [False, False, True]


def test_anthropics_messages_in_a_loop(server: Any) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0)
    loop = Loop({"execute": execute}, task=TASK)
    messages: list[Any] = [{"role": "user", "content": TASK}]
    with pytest.raises(deadloop.LoopError) as stopped:
        for _ in range(20):
            message = client.messages.create(model="polls", max_tokens=99, messages=messages)
            messages += [{"role": "assistant", "content": message.content}, *loop.run(message)]
    assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3)


def runner(server: Any, run: Run, **options: Any) -> Any:
    anthropic = pytest.importorskip("anthropic")
    from deadloop.agents.anthropic import guarded

    client = anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0)
    tools = guarded([anthropic.beta_tool(execute)], run)
    messages = [{"role": "user", "content": TASK}]
    return client.beta.messages.tool_runner(model="polls", max_tokens=99, tools=tools, messages=messages, **options)


def test_anthropics_tool_runner(server: Any) -> None:
    run = Run()
    asked = runner(server, run)
    from deadloop.agents.anthropic import watch

    before = server.last()["requests"]
    with pytest.raises(deadloop.LoopError) as stopped:
        list(watch(asked, run))
    assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3)
    assert server.last()["requests"] == before + 3, "the model is not asked again"


def test_a_refused_call_of_the_tool_runner(server: Any) -> None:
    told: list[deadloop.Alarm] = []
    run = Run(steps(), on_refuse=told.append)
    asked = runner(server, run)
    from deadloop.agents.anthropic import watch

    with pytest.raises(deadloop.LoopError):
        list(watch(asked, run))
    assert len(calls) == 2 and len(told) >= 3


async def test_anthropics_asynchronous_tool_runner(server: Any) -> None:
    anthropic = pytest.importorskip("anthropic")
    from deadloop.agents.anthropic import awatch, guarded

    async def execute(request: dict[str, Any]) -> str:
        """Sends a request."""
        calls.append(request)
        return "checking step 2 of 9"

    run = Run()
    client = anthropic.AsyncAnthropic(base_url=server.url, api_key="x", max_retries=0)
    tools = guarded([anthropic.beta_async_tool(execute)], run)
    messages = [{"role": "user", "content": TASK}]
    asked = client.beta.messages.tool_runner(model="polls", max_tokens=99, tools=tools, messages=messages)
    with pytest.raises(deadloop.LoopError):
        [message async for message in awatch(asked, run)]
    assert len(calls) == 3


@pytest.fixture
def sdk(server: Any) -> Any:
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


async def test_a_session_of_mcp() -> None:
    pytest.importorskip("mcp")
    from deadloop.agents import mcp
    from mcp import Client
    from mcp.server import MCPServer

    server = MCPServer("tools")
    server.tool(name="execute")(execute)
    async with Client(server) as session:
        tools = mcp.guarded(session, mcp.run())
        assert [tool.name for tool in (await tools.list_tools()).tools] == ["execute"]
        with pytest.raises(deadloop.LoopError) as stopped:
            for _ in range(20):
                await tools.call_tool("execute", {"request": {}})
        assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3)
        calls.clear()
        tools = mcp.guarded(session, mcp.run(deadloop.Guards.parse(REFUSES)))
        results = [await tools.call_tool("execute", {"request": {}}) for _ in range(5)]
        assert [result.is_error for result in results] == [False, False, True, True, True] and len(calls) == 2
        assert results[2].content[0].text.startswith("This call was not run")


async def test_pydantic_ai(server: Any) -> None:
    pytest.importorskip("pydantic_ai")
    from deadloop.agents.pydantic_ai import LoopGuard
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=server.url + "/v1", api_key="x")

    def agent(model: str, guard: LoopGuard) -> Any:
        return Agent(OpenAIChatModel(model, provider=provider), tools=[execute], capabilities=[guard])

    for _ in range(2):  # each run has a guard of its own
        calls.clear()
        with pytest.raises(deadloop.LoopError) as stopped:
            await agent("polls", LoopGuard()).run(TASK)
        assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3)
    calls.clear()
    told: list[deadloop.Alarm] = []
    with pytest.raises(deadloop.LoopError):
        await agent("polls", LoopGuard(steps(), on_refuse=told.append)).run(TASK)
    assert len(calls) == 2 and len(told) >= 3
    assert (await agent("works", LoopGuard()).run(TASK)).output == "It is done."


def test_smolagents(server: Any) -> None:
    pytest.importorskip("smolagents")
    from deadloop.agents.smolagents import guard
    from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool

    @tool
    def execute(request: dict) -> str:  # type: ignore[type-arg]
        """Sends a request.

        Args:
            request: The request.
        """
        calls.append(request)
        return "checking step 2 of 9"

    model = OpenAIServerModel("polls", api_base=server.url + "/v1", api_key="x")
    agent = ToolCallingAgent([execute], model, verbosity_level=LogLevel.OFF)
    for _ in range(2):  # a second run under a guard of its own
        calls.clear()
        run = guard(agent)
        with pytest.raises(deadloop.LoopError) as stopped:
            agent.run(TASK)
        assert (stopped.value.alarm.kind, len(calls)) == (KIND, 3) and run.alarm == stopped.value.alarm
    calls.clear()
    guard(agent, steps())
    with pytest.raises(deadloop.LoopError):
        agent.run(TASK)
    assert len(calls) == 2


def test_a_framework_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "smolagents", None)
    monkeypatch.delitem(sys.modules, "deadloop.agents.smolagents", raising=False)
    with pytest.raises(ImportError, match="smolagents"):
        import deadloop.agents.smolagents  # noqa: F401
