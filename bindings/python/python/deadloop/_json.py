"""The objects of clients as JSON: all that is done here. What a chunk says is read in Rust, for every client alike."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any


def get(thing: Any, name: str) -> Any:
    """A field of an object or of a dict; None where there is none."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def dumps(value: Any) -> str:
    """JSON without spaces. Objects are written as the fields that they have, others as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_fields)


def _fields(thing: Any) -> Any:
    for name in ("model_dump", "to_dict", "dict"):
        dump = getattr(thing, name, None)
        if callable(dump) and not isinstance(thing, type):
            return dump()
    return getattr(thing, "__dict__", None) or str(thing)


def text(value: Any) -> str:
    """What a tool was given or gave back, as text: text as it is, nothing as none, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value)


def of_chunk(chunk: Any) -> str:
    """A chunk of a client as JSON."""
    if isinstance(chunk, dict):
        return dumps(chunk)
    if get(chunk, "additional_kwargs") is not None:
        return dumps(_langchain(chunk))
    dump: Callable[..., str] | None = getattr(chunk, "model_dump_json", None)
    if callable(dump):
        try:
            return dump(exclude_none=True, warnings=False)
        except Exception:  # what is in it is no JSON: field by field
            return dumps(getattr(chunk, "__dict__", {}))
    return dumps(chunk)


def _langchain(message: Any) -> dict[str, Any]:
    """A message of LangChain as a chunk of OpenAI."""
    calls = [
        {"index": call.get("index"), "id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("args")}}
        for call in get(message, "tool_call_chunks") or ()
    ]
    delta: dict[str, Any] = {"content": get(message, "content"), "tool_calls": calls or None}
    if isinstance(reasoning := get(get(message, "additional_kwargs"), "reasoning_content"), str):
        delta["reasoning_content"] = reasoning
    named = get(get(message, "response_metadata"), "model_name")
    return {"model": named, "choices": [{"index": 0, "delta": delta}]}


def last(chunk: Any) -> Any:
    """A chunk like this one that ends the stream: without text, with the reason `length`.

    None where the kind of chunk has no such thing.
    """
    if not isinstance(get(chunk, "choices"), (list, tuple)):
        return None
    end = copy.deepcopy(chunk)
    for choice in get(end, "choices"):
        _put(choice, "finish_reason", "length")
        _put(choice, "text", "")
        delta = get(choice, "delta")
        for name in ("content", "reasoning_content", "reasoning", "tool_calls"):
            _put(delta, name, None)
    return end


def _put(thing: Any, name: str, value: Any) -> None:
    """Sets a field that is there."""
    if get(thing, name) is None and name != "finish_reason":
        return
    if isinstance(thing, dict):
        thing[name] = value
    else:
        setattr(thing, name, value)
