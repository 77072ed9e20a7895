"""Real stores of sessions, made by the programs themselves against a server on loopback, imported and counted again.

    python3 stores.py WORK DEADLOOP        # see scripts/stores, which installs the programs into WORK

The server speaks as OpenAI (chat, responses) and Gemini do, streamed or not. Its model makes one call of a tool that it was
offered, and answers once the result is there. Each program is asked the same two questions in a home folder of its own. What
`deadloop import` made of its store is then counted against sqlite3 and json of Python.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ANSWER = "ASSISTANT The river rises in spring, and the mill stands still. "
THOUGHT = "REASONING First look at what is there."
QUESTIONS = ["USERTEXT What does the river do?", "USERTEXT And in summer?"]

# Tools of the programs that harm nobody, with arguments that they take.
TOOLS = {
    "bash": {"command": "echo TOOLTEXT", "description": "says it"},
    "run_shell_command": {"command": "echo TOOLTEXT", "description": "says it"},
    "exec_command": {"cmd": "echo TOOLTEXT"},
    "shell": {"command": ["bash", "-lc", "echo TOOLTEXT"]},
    "shell_command": {"command": "echo TOOLTEXT"},
    "local_shell": {"command": ["echo", "TOOLTEXT"]},
    "llm_version": {},
}


def tool_of(names: list[str]) -> tuple[str, dict] | None:
    return next(((name, TOOLS[name]) for name in TOOLS if name in names), None)


class Model(BaseHTTPRequestHandler):
    """One request: the next step of a conversation."""

    protocol_version = "HTTP/1.1"
    calls = 0

    def log_message(self, *_: object) -> None:
        pass

    def send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def json(self, value: object) -> None:
        self.send("application/json", json.dumps(value).encode())

    def events(self, events: list[tuple[str | None, object]]) -> None:
        lines = []
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self.send("text/event-stream", "".join(lines).encode())

    def do_GET(self) -> None:
        self.json({"object": "list", "data": [{"id": "fake-1", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if os.environ.get("STORES_LOG"):
            with open(os.environ["STORES_LOG"], "a") as log:
                print(self.path, json.dumps(body)[:20000], file=log)
        if self.path.endswith("/chat/completions"):
            self.chat(body)
        elif self.path.endswith("/responses"):
            self.response(body)
        elif "generateContent" in self.path or "streamGenerateContent" in self.path:
            self.gemini(body)
        else:
            self.json({"totalTokens": 7})

    @classmethod
    def next_id(cls) -> str:
        cls.calls += 1
        return f"call_{cls.calls}"

    def chat(self, body: dict) -> None:
        names = [tool["function"]["name"] for tool in body.get("tools") or []]
        call = tool_of(names) if body["messages"][-1]["role"] == "user" else None
        base = {"id": f"chatcmpl-{self.next_id()}", "created": 1764000000, "model": "fake-1"}
        usage = {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}
        calls = [] if call is None else [
            {"index": 0, "id": self.next_id(), "type": "function", "function": {"name": call[0], "arguments": json.dumps(call[1])}}
        ]
        reason = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": None if calls else ANSWER, "reasoning_content": THOUGHT}
            if calls:
                message["tool_calls"] = calls
            return self.json(base | {"object": "chat.completion", "usage": usage,
                                     "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
        deltas = [{"role": "assistant", "content": ""}, {"reasoning_content": THOUGHT}]
        deltas += [{"tool_calls": calls}] if calls else [{"content": word + " "} for word in ANSWER.split()]
        chunk = lambda delta, reason=None: (None, base | {"object": "chat.completion.chunk",
                                                          "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        events = [chunk(delta) for delta in deltas] + [chunk({}, reason)]
        events += [(None, base | {"object": "chat.completion.chunk", "choices": [], "usage": usage}), (None, "[DONE]")]
        self.events(events)

    def response(self, body: dict) -> None:
        names = [tool.get("name") or tool.get("type") for tool in body.get("tools") or []]
        last = body["input"][-1] if isinstance(body["input"], list) else {}
        call = None if last.get("type", "").endswith("_output") else tool_of(names)
        this = self.next_id()
        thought = {"type": "reasoning", "id": f"rs_{this}", "summary": [{"type": "summary_text", "text": THOUGHT}]}
        if call:
            item = {"type": "function_call", "id": f"fc_{this}", "call_id": this, "name": call[0],
                    "arguments": json.dumps(call[1]), "status": "completed"}
        else:
            item = {"type": "message", "id": f"msg_{this}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}
        done = {"id": f"resp_{this}", "object": "response", "created_at": 1764000000, "model": "fake-1", "status": "completed",
                "output": [thought, item], "usage": {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42,
                "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 5}}}
        if not body.get("stream"):
            return self.json(done)
        events = [("response.created", {"type": "response.created", "response": done | {"status": "in_progress", "output": []}})]
        for at, one in enumerate([thought, item]):
            events.append(("response.output_item.added", {"type": "response.output_item.added", "output_index": at, "item": one}))
            if one is item and not call:
                for word in ANSWER.split():
                    events.append(("response.output_text.delta", {"type": "response.output_text.delta", "item_id": item["id"],
                                   "output_index": at, "content_index": 0, "delta": word + " "}))
            events.append(("response.output_item.done", {"type": "response.output_item.done", "output_index": at, "item": one}))
        events.append(("response.completed", {"type": "response.completed", "response": done}))
        self.events(events)

    def gemini(self, body: dict) -> None:
        names = [one["name"] for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
        last = body["contents"][-1]
        answered = any("functionResponse" in part for part in last["parts"])
        call = None if answered else tool_of(names)
        parts = [{"thought": True, "text": THOUGHT}]
        parts.append({"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": ANSWER})
        schema = (body.get("generationConfig") or {}).get("responseJsonSchema") or (body.get("generationConfig") or {}).get("responseSchema")
        if schema:
            # The program asks for JSON about itself: which model to take, whether to go on.
            parts = [{"text": json.dumps({"reasoning": "-", "next_speaker": "user", "model_choice": "flash", "complexity_reasoning": "-", "complexity_score": 1})}]
        said = {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}], "modelVersion": "fake-1",
                "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 7, "thoughtsTokenCount": 5, "totalTokenCount": 42}}
        if "stream" in self.path:
            return self.events([(None, said)])
        self.json(said)


def serve() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
