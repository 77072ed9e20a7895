//! Rows of programs that keep their sessions in a SQLite database.
//!
//! The queries for runs and rows are in `cut/queries.rs`. A program with an export has its row there: `opencode`,
//! `goose` and `open-webui` are the formats of those names.
//!
//! | row | written by, and where it is described |
//! |---|---|
//! | `opencode` | OpenCode 1.2 to 1.18, `~/.local/share/opencode/opencode.db`: a session's messages and their parts as JSON |
//! | `crush` | Crush 0.1 to 0.96, `.crush/crush.db` of each project: its `internal/db/migrations`, parts in `internal/message/content.go` |
//! | `goose` | Goose 1.10 and later, `~/.local/share/goose/sessions/sessions.db`: schemas 1 to 20 of its `session_manager.rs` |
//! | `cursor` | Cursor 0.43 to 2, `User/globalStorage/state.vscdb`: keys `composerData:…` and `bubbleId:…` of `cursorDiskKV`; not documented by its maker |
//! | `llm-db` | `llm` 0.36, `logs.db`: threads of turns, messages by their hashes (migrations 23 to 27 of its `migrations.py`); and `responses` of 0.13 to 0.35 |
//! | `open-webui` | Open WebUI 0.3 to 0.6, `webui.db`: the `chat` of its `models/chats.py` |

use serde_json::{Value, json};

use crate::log::{About, Is, LINES, Log, NOTHING, Reading, Rule};
use crate::paths;
use crate::reader::{Out, entries};
use deadloop_stream::take::Object;

entries! { Reading;
    CRUSH_ENTRY = CRUSH, "crush", "the database of Crush (crush.db)";
    CURSOR_ENTRY = CURSOR, "cursor", "the database of Cursor (state.vscdb)";
    LLM_DB_ENTRY = LLM_DB, "llm-db", "the database of `llm` (logs.db)";
}

static CRUSH: Log = Log {
    marks: &["session role parts"],
    shape: Some(crush),
    about: About {
        id: &["session"],
        model: &["model"],
        time: &["created_at"],
        reason: &["finish.reason"],
        beside: "title finish",
        ..NOTHING
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

/// Converts the parts of a message to blocks, and takes the finish reason.
fn crush(object: &mut Object, _: &mut Out) {
    let mut blocks = Vec::new();
    for mut part in paths::all(object, "parts[]") {
        let data = part.get_mut("data").map(Value::take).unwrap_or_default();
        let mut block = match data {
            Value::Object(data) => data,
            _ => Object::new(),
        };
        let kind = match part.get("type").and_then(Value::as_str) {
            Some("finish") => {
                object.insert("finish".to_owned(), block.into());
                continue;
            }
            Some("reasoning") => "thinking",
            Some("tool_call") => "tool_use",
            Some("tool_result") => {
                block.remove("name");
                "tool_result"
            }
            other => other.unwrap_or_default(),
        };
        for known in ["finished", "provider_executed", "started_at", "finished_at"] {
            block.remove(known);
        }
        block.insert("type".to_owned(), kind.into());
        blocks.push(Value::Object(block));
    }
    say(object, blocks);
}

/// Sets the role and the content of a message. Results of tools are user messages.
fn say(object: &mut Object, blocks: Vec<Value>) {
    if object.get("role").and_then(Value::as_str) == Some("tool") {
        object.insert("role".to_owned(), "user".into());
    }
    if object.contains_key("role") {
        object.insert("content".to_owned(), blocks.into());
    }
}

static CURSOR: Log = Log {
    marks: &["session bubble.type"],
    shape: Some(cursor),
    about: About {
        id: &["session"],
        model: &["bubble.modelInfo.modelName", "model"],
        time: &["bubble.createdAt"],
        usage: &["bubble.tokenCount"],
        beside: "place n bubble.bubbleId bubble._v",
        ..NOTHING
    },
    rules: &[
        Rule::of("bubble.type=1", Is::User("bubble.text")),
        Rule::of(
            "bubble.type=2 bubble.thinking.text",
            Is::Thought("bubble.thinking.text"),
        ),
        Rule::of("bubble.type=2 bubble.text", Is::Answer("bubble.text")),
        Rule::of(
            "bubble.type=2 bubble.toolFormerData.name",
            Is::call(
                "bubble.toolFormerData.toolCallId",
                "bubble.toolFormerData.name",
                "bubble.toolFormerData.rawArgs",
            ),
        ),
        Rule::of(
            "bubble.type=2 bubble.toolFormerData.status=completed|error",
            Is::result(
                "bubble.toolFormerData.toolCallId",
                &[
                    "bubble.toolFormerData.result",
                    "bubble.toolFormerData.error",
                ],
                "bubble.toolFormerData.status",
            ),
        ),
    ],
    ..LINES
};

/// Removes counts of tokens that are all 0. Cursor writes them for unknown counts.
fn cursor(object: &mut Object, _: &mut Out) {
    let bubble = object.get_mut("bubble").and_then(Value::as_object_mut);
    let counts = bubble
        .as_ref()
        .and_then(|bubble| bubble.get("tokenCount")?.as_object());
    let unknown = counts.is_some_and(|counts| counts.values().all(|count| *count == 0));
    if let Some(bubble) = bubble.filter(|_| unknown) {
        bubble.remove("tokenCount");
    }
}

static LLM_DB: Log = Log {
    marks: &["session datetime_utc"],
    records: &["messages[]"],
    shape: Some(llm),
    about: About {
        id: &["session"],
        model: &["model"],
        time: &["datetime_utc"],
        reason: &[
            "raw.finish_reason",
            "raw.choices[0].finish_reason",
            "raw.stop_reason",
        ],
        usage: &["usage"],
        beside: "raw response_json id conversation_id input_tokens output_tokens",
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

/// Converts the parts of a message to blocks, or the prompt and the answer of older databases to messages.
fn llm(object: &mut Object, _: &mut Out) {
    if object.contains_key("role") {
        let parts = paths::all(object, "parts[]");
        let blocks = parts.into_iter().map(llm_block).collect();
        return say(object, blocks);
    }
    if !object.contains_key("prompt") {
        return;
    }
    let mut messages = Vec::new();
    let mut take = |name: &str| object.remove(name).unwrap_or_default();
    for (name, role) in [("system", "system"), ("prompt", "user")] {
        if let Value::String(text) = take(name) {
            messages.push(json!({"role": role, "content": text}));
        }
    }
    if let Value::Array(results) = take("results") {
        for mut result in results {
            result["role"] = "tool".into();
            messages.push(result);
        }
    }
    let mut said = json!({"role": "assistant", "content": take("response"), "tool_calls": take("calls"),
        "reasoning": take("reasoning")});
    for name in ["datetime_utc", "usage"] {
        said[name] = take(name);
    }
    messages.push(said);
    object.insert("messages".to_owned(), messages.into());
}

fn llm_block(mut part: Value) -> Value {
    let text = part["text"].take();
    let inside = part["payload"].as_str().map(serde_json::from_str);
    let mut block = match inside {
        Some(Ok(Value::Object(payload))) => payload,
        _ => Object::new(),
    };
    let kind = match part["type"].as_str() {
        Some("reasoning") => "thinking",
        Some("tool_call") => "tool_use",
        Some("tool_result") => {
            let failed = block.remove("exception").is_some_and(|e| !e.is_null());
            block.insert("is_error".to_owned(), failed.into());
            block.remove("name");
            if let Some(output) = block.remove("output") {
                block.insert("content".to_owned(), output);
            }
            "tool_result"
        }
        other => other.unwrap_or_default(),
    };
    block.remove("text_ref");
    block.insert("type".to_owned(), kind.into());
    block.extend(Some(("text".to_owned(), text)).filter(|(_, text)| !text.is_null()));
    block.into()
}
