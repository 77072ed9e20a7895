"""One table of streams for every live road: each ends at its guard with the alarm of the table (tests/roads.jsonl)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import deadloop
import httpx
import pytest
from deadloop import _options
from deadloop.agents import Run, _run
from deadloop.http import AsyncTransport, Transport

TABLE = Path(__file__).parents[3] / "tests" / "roads.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]
# Text that stands behind each alarm.
BEHIND = "NEVER"


def chunks(events: list[dict[str, Any]]) -> Iterator[tuple[float, dict[str, Any]]]:
    """The events as chunks of OpenAI's chat, each with the seconds before it."""
    before = calls = 0

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    for event in events:
        pause, before = max(0, event.get("t_ms", before) - before) / 1000, event.get("t_ms", before)
        match event["type"]:
            case "reasoning":
                yield pause, chunk({"reasoning_content": event["text"]})
            case "answer":
                yield pause, chunk({"content": event["text"]})
            case "tool_call":
                function = {"name": event["name"], "arguments": event["arguments"]}
                yield pause, chunk({"tool_calls": [{"index": calls, "id": event["id"], "function": function}]})
                calls += 1
            case "finish":
                yield pause, chunk({}, event["reason"])
            case other:
                raise AssertionError(f"no response has {other}")


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The events as a body that comes when they do."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events

    def __iter__(self) -> Iterator[bytes]:
        for pause, chunk in chunks(self.events):
            time.sleep(pause)
            yield f"data: {json.dumps(chunk)}\n\n".encode()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for pause, chunk in chunks(self.events):
            await asyncio.sleep(pause)
            yield f"data: {json.dumps(chunk)}\n\n".encode()

    async def aclose(self) -> None:
        pass


def answered(events: list[dict[str, Any]]) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body(events)))


# What a road gives before it ends, and its error if it raises one.
Given = tuple[str, deadloop.LoopError | None]


def by_transport(guards: deadloop.Guards, events: list[dict[str, Any]]) -> Given:
    transport = Transport(guards, inner=answered(events), strict=True)
    given = ""
    try:
        with httpx.Client(transport=transport).stream("POST", "http://x/", json={}) as response:
            for text in response.iter_text():
                given += text
    except deadloop.LoopError as error:
        return given, error
    return given, None


def by_async_transport(guards: deadloop.Guards, events: list[dict[str, Any]]) -> Given:
    transport = AsyncTransport(guards, inner=answered(events), strict=True)

    async def ask() -> Given:
        given = ""
        try:
            async with httpx.AsyncClient(transport=transport) as client, client.stream("POST", "http://x/", json={}) as response:
                async for text in response.aiter_text():
                    given += text
        except deadloop.LoopError as error:
            return given, error
        return given, None

    return asyncio.run(ask())


def by_watch(guards: deadloop.Guards, events: list[dict[str, Any]]) -> Given:
    def stream() -> Iterator[dict[str, Any]]:
        for pause, chunk in chunks(events):
            time.sleep(pause)
            yield chunk

    given = ""
    try:
        for chunk in deadloop.watch(stream(), guards, strict=True):
            given += json.dumps(chunk)
    except deadloop.LoopError as error:
        return given, error
    return given, None


def by_awatch(guards: deadloop.Guards, events: list[dict[str, Any]]) -> Given:
    async def stream() -> AsyncIterator[dict[str, Any]]:
        for pause, chunk in chunks(events):
            await asyncio.sleep(pause)
            yield chunk

    watched = deadloop.awatch(stream(), guards, strict=True)

    async def ask() -> Given:
        given = ""
        try:
            async for chunk in watched:
                given += json.dumps(chunk)
        except deadloop.LoopError as error:
            return given, error
        return given, None

    return asyncio.run(ask())


def by_run(guards: deadloop.Guards, events: list[dict[str, Any]]) -> Given:
    run = Run(guards, strict=True)
    given = ""
    try:
        for event in events:
            match event["type"]:
                case "reasoning" | "answer":
                    run.says(event["text"], event["type"])
                    given += event["text"]
                case "tool_call":
                    run.says(event["arguments"], "arguments")
                    run.call(event["name"], event["arguments"], event["id"])
                case "tool_result":
                    run.result(event["id"], event["content"])
                case "user":
                    run.user(event["text"])
                case "turn":
                    run.turn()
                case "finish":
                    run.finish(event["reason"])
                case other:
                    raise AssertionError(other)
    except deadloop.LoopError as error:
        return given, error
    return given, None


RESPONSE = set(_options.RESPONSE)
# Each road with the feeds that it claims.
ROADS: dict[str, tuple[Callable[[deadloop.Guards, list[dict[str, Any]]], Given], set[str]]] = {
    "Transport": (by_transport, RESPONSE),
    "AsyncTransport": (by_async_transport, RESPONSE),
    "watch": (by_watch, RESPONSE),
    "awatch": (by_awatch, RESPONSE),
    "Run": (by_run, {*_run.FEEDS, "ends"}),
}


@pytest.mark.parametrize("road", ROADS)
def test_a_road_ends_each_stream_at_its_guard(road: str) -> None:
    way, claims = ROADS[road]
    tried = set()
    for row in ROWS:
        guards, case = deadloop.Guards(row["settings"]), f"{road}: {row['name']}"
        if row["feed"] not in claims:
            if row["alarm"]:
                with pytest.raises(ValueError, match="brings no guard"):
                    way(guards, row["events"])
            continue
        if road == "Run" and row["events"][-1]["type"] != "finish":
            continue  # who runs it says when it is over
        given, error = way(guards, row["events"])
        alarm = None if error is None else json.loads(error.alarm.json())
        told = None if alarm is None else {name: alarm[name] for name in row["alarm"] or alarm}
        assert told == row["alarm"], case
        assert BEHIND not in given, case
        tried.add(row["feed"])
    assert tried == claims, road
