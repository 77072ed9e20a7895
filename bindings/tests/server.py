"""A server that speaks like OpenAI, Anthropic and Ollama, for tests: it counts what it sent.

    python3 server.py            # prints its address, serves until its standard input ends

The model of a request says what its response is: `loop-reasoning`, `loop-answer` and `loop-arguments` (of a call) begin with
prose and then say one sentence again and again, `prose` says prose and ends, `dies` goes in the middle of it, `stalls` says
nothing for some seconds. `calls` makes four calls at once, of which three are equal, and `calls-loop` one with arguments that
loop, streamed or not; `calls-many` makes forty equal ones. `polls` makes one call on and on, `works` some that differ (`works-12`: twelve): these two do not stream. `GET /last` waits until the response that was
begun last is over, and tells how many chunks of it were sent, and whether its client had gone before its end.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Chunks of a response that nobody ends.
CHUNKS = 2001
# Between two chunks, in seconds: a model is not faster, and a client that goes is noticed.
PACE = 0.005
# Chunks after which the server of the model `dies` has gone, and that of `stalls` is silent for some seconds.
DIES = 30
STALLS, SILENT = 3, 2.5
# Calls after which the model `polls` gives up by itself, and `works` is done.
POLLS, WORKS = 30, 4
SENTENCE = "Wait, let me check the roads once more. "
PROSE = (Path(__file__).parent / "prose.txt").read_text()


def words(model: str) -> list[str]:
    """What a response says, chunk by chunk."""
    prose = PROSE.split(" ")
    if model.startswith(("prose", "dies", "stalls")):
        return [" ".join(prose[i : i + 4]) + " " for i in range(0, len(prose), 4)]
    start = [word + " " for word in prose[:5]]
    return start + [SENTENCE] * (CHUNKS - len(start))


class Sent:
    """What became of the last response."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.over.set()
        self.sent = 0
        self.gone = False
        self.requests = 0

    def begin(self) -> None:
        self.over.clear()
        self.sent, self.gone = 0, False
        self.requests += 1


last = Sent()


def chat(model: str, texts: list[str], channel: str) -> list[bytes]:
    field = "reasoning_content" if channel == "reasoning" else "content"
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: dict, reason: str | None = None) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return b"data: " + json.dumps(head | {"choices": choices}).encode() + b"\n\n"

    def delta(text: str, first: bool) -> dict:
        if channel != "arguments":
            return {field: text}
        call = {"index": 0, "function": {"arguments": text}}
        if first:
            call |= {"id": "call_1", "type": "function"}
            call["function"] = {"name": "write", "arguments": text}
        return {"tool_calls": [call]}

    body = [chunk(delta(text, False)) for text in texts]
    body[0] = chunk({"role": "assistant", **delta(texts[0], True)})
    return [*body, chunk({}, "tool_calls" if channel == "arguments" else "stop"), b"data: [DONE]\n\n"]


def anthropic(model: str, texts: list[str], channel: str) -> list[bytes]:
    kind = "thinking" if channel == "reasoning" else "text"
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    block = {"type": kind, kind: ""} | ({"signature": ""} if kind == "thinking" else {})
    if channel == "arguments":
        block = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}

    def event(kind: str, **fields: object) -> bytes:
        data = json.dumps({"type": kind, **fields})
        return f"event: {kind}\ndata: {data}\n\n".encode()

    deltas = [{"type": f"{kind}_delta", kind: text} for text in texts]
    if channel == "arguments":
        deltas = [{"type": "input_json_delta", "partial_json": text} for text in texts]
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        event("message_start", message=message) + event("content_block_start", index=0, content_block=block),
        *(event("content_block_delta", index=0, delta=delta) for delta in deltas),
        event("content_block_stop", index=0),
        event("message_delta", delta=end, usage={"output_tokens": 9}) + event("message_stop"),
    ]


def responses(model: str, texts: list[str], channel: str) -> list[bytes]:
    kind = "reasoning_text" if channel == "reasoning" else "output_text"
    response = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "in_progress",
        "output": [], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip

    def event(number: int, kind: str, **fields: object) -> bytes:
        data = json.dumps({"type": kind, "sequence_number": number, **fields})
        return f"event: {kind}\ndata: {data}\n\n".encode()

    place = {"item_id": "item_1", "output_index": 0, "content_index": 0, "logprobs": []}
    if channel == "arguments":
        kind, place = "function_call_arguments", {"item_id": "item_1", "output_index": 0}
        item = {"type": "function_call", "id": "item_1", "call_id": "call_1", "name": "write", "arguments": ""}
        response["output"] = [item]
    deltas = [event(i + 1, f"response.{kind}.delta", delta=text, **place) for i, text in enumerate(texts)]
    done = event(len(texts) + 1, "response.completed", response=response | {"status": "completed"})
    created = event(0, "response.created", response=response | {"output": []})
    if channel == "arguments":
        created += event(0, "response.output_item.added", output_index=0, item=item)
    return [created, *deltas, done]


def ollama(model: str, texts: list[str], channel: str) -> list[bytes]:
    field = "thinking" if channel == "reasoning" else "content"

    def line(message: dict, **more: object) -> bytes:
        head = {"model": model, "created_at": "2026-01-01T00:00:00Z", "message": message}
        return json.dumps({**head, "done": False, **more}).encode() + b"\n"

    lines = [line({"role": "assistant", "content": "", field: text}) for text in texts]
    return [*lines, line({"role": "assistant", "content": ""}, done=True, done_reason="stop")]


# Tools and arguments.
CALLS = [("ls", "{}"), ("ls", "{}"), ("ls", "{}"), ("pwd", "{}")]
LOOP = [("write", json.dumps({"text": SENTENCE * 40}))]
MANY = [("execute", json.dumps({"request": {}}))] * 40


def data(event: dict) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def chat_calls(model: str, calls: list[tuple[str, str]], stream: bool) -> list[dict]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
    made = [
        {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": text}}
        for i, (name, text) in enumerate(calls)
    ]
    if not stream:
        message = {"role": "assistant", "content": None, "tool_calls": [call for call in made if call.pop("index") >= 0]}
        choices = [{"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}]
        return [head | {"object": "chat.completion", "choices": choices}]
    deltas: list[tuple[dict, str | None]] = [({"role": "assistant", "content": None}, None)]
    for call in made:
        text = call["function"]["arguments"]
        begin = call | {"function": call["function"] | {"arguments": ""}}
        deltas.append(({"tool_calls": [begin]}, None))
        pieces = [text[i : i + 20] for i in range(0, len(text), 20)]
        deltas += [({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]}, None) for piece in pieces]
    deltas.append(({}, "tool_calls"))
    return [head | {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]


def response_calls(model: str, calls: list[tuple[str, str]], stream: bool) -> list[dict]:
    whole = whole_response(model, 1, None)
    items = [
        {"type": "function_call", "id": f"fc_{i}", "call_id": f"call_{i}", "name": name, "arguments": text, "status": "completed"}
        for i, (name, text) in enumerate(calls)
    ]
    whole["output"] = items
    if not stream:
        return [whole]
    events: list[dict] = [{"type": "response.created", "response": whole | {"output": [], "status": "in_progress"}}]
    for i, item in enumerate(items):
        place = {"output_index": i, "item_id": item["id"]}
        begun = item | {"arguments": "", "status": "in_progress"}
        text = item["arguments"]
        events.append({"type": "response.output_item.added", "output_index": i, "item": begun})
        for at in range(0, len(text), 20):
            events.append({"type": "response.function_call_arguments.delta", "delta": text[at : at + 20], **place})
        events.append({"type": "response.function_call_arguments.done", "arguments": text, "name": item["name"], **place})
        events.append({"type": "response.output_item.done", "output_index": i, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def message_calls(model: str, calls: list[tuple[str, str]], stream: bool) -> list[dict]:
    whole = whole_message(model, 1, None) | {"stop_reason": "tool_use"}
    blocks = [
        {"type": "tool_use", "id": f"toolu_{i}", "name": name, "input": json.loads(text)} for i, (name, text) in enumerate(calls)
    ]
    if not stream:
        return [whole | {"content": blocks}]
    events: list[dict] = [{"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}]
    for i, (block, (_, text)) in enumerate(zip(blocks, calls, strict=True)):
        events.append({"type": "content_block_start", "index": i, "content_block": block | {"input": {}}})
        for at in range(0, len(text), 20):
            delta = {"type": "input_json_delta", "partial_json": text[at : at + 20]}
            events.append({"type": "content_block_delta", "index": i, "delta": delta})
        events.append({"type": "content_block_stop", "index": i})
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}})
    return [*events, {"type": "message_stop"}]


POLL = {"request": {"method": "GET", "url": "/v3/plans/7/confirm"}}


def step(model: str, results: int) -> dict | None:
    """The arguments of the next call of an agent that has seen so many results; None: it is done."""
    if model.startswith("polls"):
        return POLL if results < POLLS else None
    works = int(model.partition("-")[2] or WORKS)
    return {"request": {"method": "GET", "url": f"/v3/plans/{results}"}} if results < works else None


def results(request: dict) -> int:
    """How many results of tools are in a conversation."""
    count = 0
    for item in request.get("messages") or request.get("input") or ():
        if not isinstance(item, dict):
            continue
        content = item.get("content")
        blocks = content if isinstance(content, list) else ()
        count += item.get("role") == "tool" or item.get("type") == "function_call_output"
        count += sum(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)
    return count


def whole_chat(model: str, number: int, arguments: dict | None) -> dict:
    message: dict = {"role": "assistant", "content": "It is done."}
    if arguments is not None:
        function = {"name": "execute", "arguments": json.dumps(arguments)}
        message |= {"content": None, "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}
    reason = "stop" if arguments is None else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choices = [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": choices, "usage": usage}


def whole_response(model: str, number: int, arguments: dict | None) -> dict:
    item: dict = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": "It is done.", "annotations": [], "logprobs": []}]
    if arguments is not None:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
        item |= {"name": "execute", "arguments": json.dumps(arguments)}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "model": model, "status": "completed", "error": None,
        "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage,
        "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip


def whole_message(model: str, number: int, arguments: dict | None) -> dict:
    block: dict = {"type": "text", "text": "It is done."}
    if arguments is not None:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "execute", "input": arguments}
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [block],
        "stop_reason": "end_turn" if arguments is None else "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


WHOLE = {"/v1/chat/completions": whole_chat, "/v1/responses": whole_response, "/v1/messages": whole_message}

MADE = {"/v1/chat/completions": chat_calls, "/v1/responses": response_calls, "/v1/messages": message_calls}

APIS = {
    "/v1/chat/completions": chat,
    "/v1/messages": anthropic,
    "/v1/responses": responses,
    "/api/chat": ollama,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the counts say it."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            """A client that has gone is what is counted."""

    def do_GET(self) -> None:
        last.over.wait(30)
        self.answer({"sent": last.sent, "gone": last.gone, "requests": last.requests})

    def answer(self, told: dict) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        model = request["model"].rpartition("/")[2]
        path = self.path.partition("?")[0]
        if model.startswith(("polls", "works")):
            last.requests += 1
            number = results(request)
            self.answer(WHOLE[path](model, number, step(model, number)))
            return
        api = APIS[path]
        channel = next((name for name in ("reasoning", "arguments") if name in model), "answer")
        if model.startswith("calls"):
            stream = bool(request.get("stream"))
            made = MADE[path](model, LOOP if "loop" in model else MANY if "many" in model else CALLS, stream)
            if not stream:
                self.answer(made[0])
                return
            chunks = [data(event) for event in made]
            chunks += [b"data: [DONE]\n\n"] if api is chat else []
        else:
            chunks = api(model, words(model), channel)
        last.begin()
        self.send_response(200)
        kind = "application/x-ndjson" if api is ollama else "text/event-stream"
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for chunk in chunks:
                if model.startswith("dies") and last.sent == DIES:
                    raise OSError
                if model.startswith("stalls") and last.sent == STALLS:
                    time.sleep(SILENT)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                last.sent += 1
                time.sleep(PACE)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            last.gone = True
            self.close_connection = True
        finally:
            last.over.set()


class Server(ThreadingHTTPServer):
    """Takes many connections at once: the five that the base class lets wait are reset where more come."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
