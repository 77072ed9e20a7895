"""Makes the sample databases of tests/formats/import: python3 scripts/store-samples.py tests/formats/import

The tables and columns are those that each program makes (see the head of formats/databases.rs for where that stands); only the
tables that hold sessions are there, and the smallest pages, so that the samples stay small.
"""

import json
import sqlite3
import sys
from pathlib import Path

SAID = "ASSISTANT The river rises in the hills and falls into the lake. " * 3
THOUGHT = "REASONING First look at the map, then at the table of heights. "
ASKED = "USERTEXT Where does the river rise?"
GIVEN = "TOOLTEXT listing of files: map.txt table.txt"
START = 1764000000


def make(path: Path, tables: str, rows: dict[str, list[dict]]) -> None:
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute("PRAGMA page_size = 1024")
    base.executescript(tables)
    for table, records in rows.items():
        for record in records:
            names = ", ".join(f'"{name}"' for name in record)
            marks = ", ".join("?" for _ in record)
            base.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', list(record.values()))
    base.commit()
    base.execute("VACUUM")
    base.close()


def opencode(path: Path) -> None:
    tables = """
        CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
            title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
        CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
            time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
        CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE,
            session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
        CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
        CREATE INDEX part_message_id_id_idx ON part (message_id, id);
        CREATE INDEX part_session_idx ON part (session_id);
    """
    ms = START * 1000
    session = lambda id, at: {"id": id, "project_id": "global", "slug": id, "directory": "/p", "title": "River", "version": "1.18.33",
                              "time_created": ms + at, "time_updated": ms + at}
    message = lambda id, at, data: {"id": id, "session_id": "ses_1", "time_created": ms + at, "time_updated": ms + at, "data": json.dumps(data)}
    part = lambda id, of, data: {"id": id, "message_id": of, "session_id": "ses_1", "time_created": ms, "time_updated": ms, "data": json.dumps(data)}
    tokens = {"input": 30, "output": 12, "reasoning": 5, "cache": {"read": 7, "write": 0}}
    model = {"role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": "/p", "root": "/p"}, "cost": 0, "tokens": tokens,
             "modelID": "m-1", "providerID": "x"}
    make(path, tables, {
        "session": [session("ses_1", 0), session("ses_2", 9)],
        "message": [
            message("msg_1", 0, {"role": "user", "time": {"created": ms}, "agent": "build"}),
            message("msg_2", 1000, model | {"time": {"created": ms + 1000, "completed": ms + 3000}, "finish": "tool-calls"}),
            message("msg_3", 4000, model | {"time": {"created": ms + 4000, "completed": ms + 5000}, "finish": "length"}),
        ],
        "part": [
            part("prt_1", "msg_1", {"type": "text", "text": ASKED}),
            part("prt_2", "msg_2", {"type": "step-start"}),
            part("prt_3", "msg_2", {"type": "reasoning", "text": THOUGHT, "time": {"start": ms + 1500, "end": ms + 1700}}),
            part("prt_4", "msg_2", {"type": "tool", "tool": "bash", "callID": "c1", "state": {
                "status": "completed", "input": {"command": "ls"}, "output": GIVEN, "title": "ls", "metadata": {},
                "time": {"start": ms + 2000, "end": ms + 2500}}}),
            part("prt_5", "msg_2", {"type": "step-finish", "reason": "tool-calls", "tokens": tokens, "cost": 0}),
            part("prt_6", "msg_3", {"type": "step-start"}),
            part("prt_7", "msg_3", {"type": "text", "text": SAID, "time": {"start": ms + 4500, "end": ms + 4900}}),
            part("prt_8", "msg_3", {"type": "step-finish", "reason": "length", "tokens": tokens, "cost": 0}),
        ],
    })


def crush(path: Path) -> None:
    tables = """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
            prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
            updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, role TEXT NOT NULL,
            parts BLOB NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER,
            provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL);
        CREATE INDEX idx_messages_session_id ON messages (session_id);
    """
    part = lambda kind, **data: {"type": kind, "data": data}
    message = lambda n, role, *parts: {"id": f"m{n}", "session_id": "s1", "role": role, "parts": json.dumps(parts).encode(), "model": "m-1",
                                       "created_at": START + n, "updated_at": START + n}
    make(path, tables, {
        "sessions": [{"id": "s1", "title": "River", "updated_at": START, "created_at": START}],
        "messages": [
            message(0, "user", part("text", text=ASKED)) | {"model": None},
            message(1, "assistant", part("reasoning", thinking=THOUGHT, signature=""),
                    part("tool_call", id="c1", name="ls", input='{"path": "."}', provider_executed=False, finished=True),
                    part("finish", reason="tool_use", time=START + 1)),
            message(2, "tool", part("tool_result", tool_call_id="c1", name="ls", content=GIVEN, metadata="", is_error=False)),
            message(3, "assistant", part("text", text=SAID), part("finish", reason="max_tokens", time=START + 3)),
        ],
    })


def goose(path: Path) -> None:
    tables = """
        CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
            session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
            updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}', provider_name TEXT, model_config_json TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id),
            role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
            timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
        CREATE INDEX idx_messages_session ON messages(session_id);
    """
    message = lambda n, role, *content: {"message_id": f"m{n}", "session_id": "20251124_1", "role": role, "content_json": json.dumps(content),
                                         "created_timestamp": START + n, "timestamp": "2025-11-24 16:00:00", "metadata_json": "{}"}
    text = lambda text: {"type": "text", "text": text}
    make(path, tables, {
        "schema_version": [{"version": 20, "applied_at": "2025-11-24 16:00:00"}],
        "sessions": [{"id": "20251124_1", "name": "River", "working_dir": "/p", "created_at": "2025-11-24 16:00:00",
                      "updated_at": "2025-11-24 16:00:00", "provider_name": "x", "model_config_json": json.dumps({"model_name": "m-1"})}],
        "messages": [
            message(0, "user", text(ASKED)),
            message(1, "assistant", {"type": "thinking", "thinking": THOUGHT, "signature": ""},
                    {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}}),
            message(2, "user", {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": [text(GIVEN)]}}),
            message(3, "assistant", text(SAID)),
        ],
    })


def cursor(path: Path) -> None:
    tables = """
        CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
        CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    """
    bubble = lambda id, kind, **more: {"key": f"bubbleId:c-1:{id}", "value": json.dumps(
        {"_v": 3, "type": kind, "bubbleId": id, "text": "", "createdAt": f"2025-11-24T16:00:0{id[-1]}.000Z",
         "tokenCount": {"inputTokens": 0, "outputTokens": 0}} | more)}
    list_ = [{"bubbleId": id, "type": kind} for id, kind in [("b0", 1), ("b1", 2), ("b2", 2), ("b3", 2), ("b9", 2)]]
    composer = {"_v": 10, "composerId": "c-1", "name": "River", "createdAt": START * 1000, "modelConfig": {"modelName": "m-1"},
                "fullConversationHeadersOnly": list_}
    old = {"composerId": "c-0", "conversation": [{"type": 1, "bubbleId": "x0", "text": ASKED}, {"type": 2, "bubbleId": "x1", "text": SAID}]}
    make(path, tables, {
        "ItemTable": [{"key": "theme", "value": "dark"}],
        "cursorDiskKV": [
            {"key": "composerData:c-1", "value": json.dumps(composer)},
            {"key": "composerData:c-0", "value": json.dumps(old).encode()},
            bubble("b0", 1, text=ASKED),
            bubble("b1", 2, thinking={"text": THOUGHT, "signature": ""}),
            bubble("b2", 2, toolFormerData={"tool": 5, "name": "list_dir", "toolCallId": "c1", "rawArgs": '{"path":"."}', "status": "completed",
                                            "result": json.dumps({"files": GIVEN})}),
            bubble("b3", 2, text=SAID, tokenCount={"inputTokens": 30, "outputTokens": 12}, modelInfo={"modelName": "m-2"}),
            bubble("b4", 2, text="another branch"),
            {"key": "checkpointId:c-1:k", "value": "{}"},
        ],
    })


def llm(path: Path) -> None:
    tables = """
        CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
        CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
            resolved_model TEXT, options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT,
            duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
        CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
        CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
        CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
        CREATE INDEX idx_turns_thread_id ON turns (thread_id);
    """
    message = lambda hash, parent, role: {"hash": hash, "parent_hash": parent, "role": role}
    part = lambda of, at, kind, text=None, payload=None: {"message_hash": of, "position": at, "type": kind, "text": text,
                                                          "payload": payload and json.dumps(payload)}
    turn = lambda id, tip, at, reason: {"id": id, "thread_id": "th", "tip_message_hash": tip, "model": "m-1", "input_tokens": 30,
                                        "output_tokens": 12, "datetime_utc": f"2025-11-24T16:00:0{at}+00:00",
                                        "response_json": json.dumps({"content": {"$": "0.0.text"}, "finish_reason": reason})}
    make(path, tables, {
        "threads": [{"id": "th", "name": "River", "tip_message_hash": "h4", "datetime_utc": "2025-11-24T16:00:00+00:00"}],
        "turns": [turn("t1", "h2", 1, "tool_calls"), turn("t2", "h4", 4, "length")],
        "messages": [message("h0", None, "system"), message("h1", "h0", "user"), message("h2", "h1", "assistant"),
                     message("h3", "h2", "tool"), message("h4", "h3", "assistant")],
        "parts": [
            part("h0", 0, "text", "SYSTEMTEXT be brief"),
            part("h1", 0, "text", None, {"text_ref": [{"fragment": 1}, {"literal": " rise?"}]}),
            part("h2", 0, "reasoning", THOUGHT),
            part("h2", 1, "tool_call", None, {"name": "ls", "arguments": {"path": "."}, "tool_call_id": "c1"}),
            part("h3", 0, "tool_result", None, {"name": "ls", "output": GIVEN, "tool_call_id": "c1"}),
            part("h4", 0, "text", SAID),
        ],
        "fragments": [{"id": 1, "hash": "f", "content": "USERTEXT Where does the river", "datetime_utc": "2025-11-24"}],
    })


def responses(path: Path, tools: bool) -> None:
    tables = """
        CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
        CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT,
            response_json TEXT, conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER, datetime_utc TEXT,
            input_tokens INTEGER, output_tokens INTEGER);
    """ + ("""
        CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
        CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT);
    """ if tools else "")
    response = lambda n, prompt, said, reason: {"id": f"r{n}", "model": "m-1", "prompt": prompt, "system": "SYSTEMTEXT be brief" if n == 1 else None,
        "response": said, "response_json": json.dumps({"content": said, "finish_reason": reason}), "conversation_id": "co",
        "datetime_utc": f"2025-01-24T16:00:0{n}", "input_tokens": 30, "output_tokens": 12}
    rows = {"conversations": [{"id": "co", "name": "River", "model": "m-1"}]}
    if tools:
        rows["responses"] = [response(1, ASKED, "", "tool_calls"), response(2, "", SAID, "length")]
        rows["tool_calls"] = [{"response_id": "r1", "name": "ls", "arguments": '{"path": "."}', "tool_call_id": "c1"}]
        rows["tool_results"] = [{"response_id": "r2", "name": "ls", "output": GIVEN, "tool_call_id": "c1"}]
    else:
        rows["responses"] = [response(1, ASKED, SAID, "length"), response(2, ASKED, SAID, "stop") | {"conversation_id": None}]
    make(path, tables, rows)


def open_webui(path: Path) -> None:
    tables = """
        CREATE TABLE chat (id VARCHAR(255) NOT NULL UNIQUE, user_id VARCHAR(255) NOT NULL, title TEXT NOT NULL, share_id VARCHAR(255),
            archived INTEGER NOT NULL, created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, chat JSON, pinned BOOLEAN,
            meta JSON DEFAULT '{}' NOT NULL, folder_id TEXT);
    """
    message = lambda id, parent, child, role, content, **more: {"id": id, "parentId": parent, "childrenIds": child, "role": role,
                                                                "content": content, "timestamp": START} | more
    thought = '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds</summary>\n> ' + THOUGHT + "\n</details>\n"
    messages = [message("a", None, ["b", "x"], "user", ASKED), message("b", "a", [], "assistant", thought + SAID, model="m-1", done=True),
                message("x", "a", [], "assistant", "another branch", model="m-1")]
    chat = {"id": "", "title": "River", "models": ["m-1"], "history": {"currentId": "b", "messages": {m["id"]: m for m in messages}}}
    row = lambda id, chat: {"id": id, "user_id": "u", "title": "River", "archived": 0, "created_at": START, "updated_at": START, "chat": chat}
    make(path, tables, {"chat": [row("w-1", json.dumps(chat)), row("w-2", json.dumps({"title": "New Chat", "history": {"messages": {}, "currentId": None}}))]})


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    opencode(folder / "opencode.db")
    crush(folder / "crush.db")
    goose(folder / "goose.db")
    cursor(folder / "cursor.vscdb")
    llm(folder / "llm-db.db")
    responses(folder / "llm-db-responses.db", True)
    responses(folder / "llm-db-before-tools.db", False)
    open_webui(folder / "open-webui.db")
