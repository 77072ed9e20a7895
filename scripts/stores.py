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


class Store:
    """A program, how it is asked, where its sessions are, and an independent reading of them."""

    def __init__(self, work: Path, url: str) -> None:
        self.work, self.url = work, url
        self.home = work / "homes" / type(self).__name__
        self.folder = self.home / "project"
        self.folder.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", str(self.folder)], check=True)

    def run(self, *command: str, **env: str) -> None:
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        done = subprocess.run(command, cwd=self.folder, env=keep | {"HOME": str(self.home)} | env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        if done.returncode:
            sys.exit(f"{command[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def npm(self, name: str) -> str:
        return str(self.work / "npm/node_modules/.bin" / name)

    def write(self, path: str, text: str) -> None:
        (self.home / path).parent.mkdir(parents=True, exist_ok=True)
        (self.home / path).write_text(text)

    def lines(self, pattern: str) -> list[list[dict]]:
        return [[json.loads(line) for line in path.read_text().splitlines()] for path in sorted(self.home.glob(pattern))]


def said(answer: str, thought: str, calls: list, results: list, users: list) -> dict:
    """What a session holds, as both readings tell it."""
    return {"answer": answer, "thought": thought, "calls": calls, "results": results, "users": users}


class OpenCode(Store):
    """opencode: SQLite, with a log beside it."""

    version = "opencode --version"

    def make(self) -> Path:
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": f"{self.url}/v1", "apiKey": "x"},
                    "models": {"fake-1": {"name": "fake-1", "tool_call": True, "reasoning": True}}}
        config = {"autoupdate": False, "model": "fake/fake-1", "provider": {"fake": provider}, "permission": {"bash": "allow"}}
        self.write(".config/opencode/opencode.json", json.dumps(config))
        self.run(self.npm("opencode"), "run", QUESTIONS[0])
        self.run(self.npm("opencode"), "run", "-c", QUESTIONS[1])
        self.run(self.npm("opencode"), "run", QUESTIONS[1])
        return self.home / ".local/share/opencode/opencode.db"

    def read(self, path: Path) -> list[dict]:
        base = sqlite3.connect(path)
        sessions = []
        for (session,) in base.execute("select id from session"):
            parts = base.execute("select m.data, p.data from message m join part p on p.message_id = m.id where m.session_id = ? "
                                 "order by m.time_created, m.id, p.id", [session])
            parts = [(json.loads(m)["role"], json.loads(p)) for m, p in parts]
            model = [part for role, part in parts if role == "assistant"]
            tools = [part for part in model if part["type"] == "tool"]
            sessions.append(said(
                "".join(part["text"] for part in model if part["type"] == "text"),
                "".join(part["text"] for part in model if part["type"] == "reasoning"),
                [(part["tool"], part["state"]["input"]) for part in tools], [part["state"]["output"] for part in tools],
                [part["text"] for role, part in parts if role == "user"]))
        return sessions


class Llm(Store):
    """llm: SQLite."""

    version = "llm --version"

    def make(self) -> Path:
        user = self.home / "llm"
        self.write("llm/extra-openai-models.yaml", "- model_id: fake-1\n  model_name: fake-1\n"
                   f'  api_base: "{self.url}/v1"\n  supports_tools: true\n  reasoning: true\n')
        llm, env = str(self.work / "llm/bin/llm"), {"LLM_USER_PATH": str(user), "OPENAI_API_KEY": "x"}
        self.run(llm, "-m", "fake-1", QUESTIONS[0], "-s", "SYSTEMTEXT be brief", "-T", "llm_version", **env)
        self.run(llm, "-c", QUESTIONS[1], **env)
        self.run(llm, "-m", "fake-1", "--no-stream", QUESTIONS[1], **env)
        return user / "logs.db"

    def read(self, path: Path) -> list[dict]:
        base = sqlite3.connect(path)
        sessions = []
        for (tip,) in base.execute("select tip_message_hash from threads"):
            chain = []
            while tip:
                tip, role, hash_ = base.execute("select parent_hash, role, hash from messages where hash = ?", [tip]).fetchone()
                parts = base.execute("select type, text, payload from parts where message_hash = ? order by position", [hash_])
                chain.insert(0, (role, [(kind, text, json.loads(payload or "{}")) for kind, text, payload in parts]))
            parts = [(role, *part) for role, parts in chain for part in parts]
            pick = lambda role, kind: [(text, more) for r, k, text, more in parts if (r, k) == (role, kind)]
            sessions.append(said(
                "".join(text for text, _ in pick("assistant", "text")), "".join(text for text, _ in pick("assistant", "reasoning")),
                [(more["name"], more["arguments"]) for _, more in pick("assistant", "tool_call")],
                [more["output"] for _, more in pick("tool", "tool_result")], [text for text, _ in pick("user", "text")]))
        return sessions


class Codex(Store):
    """Codex: a file of JSON lines a session."""

    version = "codex --version"

    def make(self) -> Path:
        self.write(".codex/config.toml", 'model = "fake-1"\nmodel_provider = "fake"\napproval_policy = "never"\n'
                   'sandbox_mode = "danger-full-access"\n[model_providers.fake]\nname = "fake"\n'
                   f'base_url = "{self.url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n')
        exec_ = [self.npm("codex"), "exec", "--skip-git-repo-check"]
        self.run(*exec_, QUESTIONS[0], FAKE_KEY="x")
        self.run(*exec_, "resume", "--last", QUESTIONS[1], FAKE_KEY="x")
        self.run(*exec_, QUESTIONS[1], FAKE_KEY="x")
        return self.home / ".codex/sessions"

    def read(self, path: Path) -> list[dict]:
        sessions = []
        for lines in self.lines(".codex/sessions/**/*.jsonl"):
            items = [line["payload"] for line in lines if line["type"] == "response_item"]
            of = lambda kind: [item for item in items if item["type"] == kind]
            texts = lambda role: ["".join(block["text"] for block in item["content"]) for item in of("message") if item["role"] == role]
            sessions.append(said(
                "".join(texts("assistant")), "".join(block["text"] for item in of("reasoning") for block in item["summary"]),
                [(item["name"], json.loads(item["arguments"])) for item in of("function_call")],
                [item["output"] for item in of("function_call_output")], [text for text in texts("user") if "USERTEXT" in text]))
        return sessions


class GeminiCli(Store):
    """Gemini CLI: a file of JSON lines a session."""

    version = "gemini --version"

    def make(self) -> Path:
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
                    "general": {"disableAutoUpdate": True}}
        self.write(".gemini/settings.json", json.dumps(settings))
        for question in QUESTIONS:
            self.run(self.npm("gemini"), "-y", "--skip-trust", "-m", "gemini-2.5-flash", "-p", question, GEMINI_API_KEY="x",
                     GOOGLE_GEMINI_BASE_URL=self.url, GEMINI_CLI_TRUST_WORKSPACE="true")
        return self.home / ".gemini/tmp"

    def read(self, path: Path) -> list[dict]:
        sessions = []
        for lines in self.lines(".gemini/tmp/*/chats/*.jsonl"):
            # A message is written again when more of it is known.
            messages = {line["id"]: line for line in lines if "id" in line}.values()
            model = [message for message in messages if message["type"] == "gemini"]
            text = lambda content: content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            tools = [call for message in model for call in message.get("toolCalls") or []]
            users = [text(message["content"]) for message in messages if message["type"] == "user"]
            sessions.append(said(
                "".join(text(message["content"]) for message in model),
                "".join(": ".join(filter(None, [thought.get("subject"), thought.get("description")]))
                        for message in model for thought in message.get("thoughts") or []),
                [(call["name"], call["args"]) for call in tools],
                ["".join(part["functionResponse"]["response"]["output"] for part in call["result"]) for call in tools],
                [text for text in users if text.startswith("USERTEXT")]))
        return sessions


class Aider(Store):
    """aider: one Markdown file of all sessions in a folder."""

    version = "aider --version"

    def make(self) -> Path:
        for question in QUESTIONS:
            self.run(str(self.work / "aider/bin/aider"), "--model", "openai/fake-1", "--no-check-update", "--no-show-model-warnings",
                     "--no-show-release-notes", "--yes-always", "--no-analytics", "--no-gitignore", "--message", question,
                     OPENAI_API_BASE=f"{self.url}/v1", OPENAI_API_KEY="x")
        return self.folder / ".aider.chat.history.md"

    def read(self, path: Path) -> list[dict]:
        sessions = []
        for part in path.read_text().split("# aider chat started at ")[1:]:
            thought = "".join(re.findall(r"<thinking-content-\w+>\n\n(.*?)\n\n</thinking", part, re.S))
            users = [line[4:].strip() for line in part.splitlines() if line.startswith("####")]
            rest = re.sub(r"<thinking-content-\w+>.*?</thinking-content-\w+>", "", part, flags=re.S)
            model = [line for line in rest.splitlines()[1:] if line and not line.startswith((">", "####"))]
            sessions.append(said("".join(model), thought, [], [], users))
        return sessions


def imported(deadloop: str, store: Path, out: Path) -> tuple[dict, list[dict]]:
    """What `deadloop import` makes of a store."""
    done = subprocess.run([deadloop, "import", str(store), "--out", str(out), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"deadloop import {store}: {done.stderr}")
    packed = sorted((out / "transcripts").glob("*.zst"))
    text = subprocess.run(["zstd", "--decompress", "--stdout", "--quiet", *map(str, packed)], capture_output=True, check=True).stdout
    sessions = []
    for line in text.decode().splitlines():
        events = json.loads(line)["events"]
        of = lambda kind: [event for event in events if event["type"] == kind]
        load = lambda arguments: json.loads(arguments) if isinstance(arguments, str) else arguments or {}
        sessions.append(said(
            "".join(event["text"] for event in of("answer")), "".join(event["text"] for event in of("reasoning")),
            [(event["name"], load(event.get("arguments"))) for event in of("tool_call")],
            [event["content"] for event in of("tool_result")], [event["text"] for event in of("user")]))
    return json.loads(done.stdout), sessions


def trimmed(session: dict) -> str:
    """A session for comparison: what stands between two texts is no part of either."""
    plain = lambda value: "".join(value.split()) if isinstance(value, str) else [plain(one) for one in value] if isinstance(value, (list, tuple)) else value
    return json.dumps({name: plain(value) for name, value in session.items()}, sort_keys=True)


def main() -> None:
    work, deadloop = Path(sys.argv[1]), sys.argv[2]
    url, failed = serve(), False
    print("| program | sessions | answers, chars | thinking, chars | calls | results | told by deadloop as | left out, fields |\n|---|---|---|---|---|---|---|---|")
    for kind in (OpenCode, Llm, Codex, GeminiCli, Aider):
        store = kind(work, url)
        path = store.make()
        told, made = imported(deadloop, path, work / "out" / kind.__name__)
        # Python opens a database to write: only now.
        wanted = store.read(path)
        same = sorted(map(trimmed, made)) == sorted(map(trimmed, wanted))
        failed |= not same
        count = lambda name: sum(len(session[name]) for session in wanted)
        name = str(kind.__doc__).split(":")[0]
        print(f"| {name} | {len(wanted)} | {count('answer')} | {count('thought')} | {count('calls')} | {count('results')} | "
              f"{', '.join(told['formats'])}: {'the same' if same else 'OTHER'} | {len(told['left_out'])} |", flush=True)
        if not same:
            print(json.dumps({"wanted": wanted, "made": made}, indent=1), file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
