//! Logs of chats and agents: a row each. What a row says is in [`Log`].
//!
//! | row | written by, and where it is described |
//! |---|---|
//! | `pi` | pi 0.6 and OpenClaw, `~/.pi/agent/sessions/**/*.jsonl`: its `docs/session.md` (version 3) |
//! | `atif` | Harbor and Terminal-Bench 2, `trajectory.json`: Agent Trajectory Interchange Format 1.6 |
//! | `gemini-stream` | `gemini -o stream-json` of Gemini CLI 0.11 and Qwen Code: its `docs/cli/headless.md` |
//! | `qwen-code` | Qwen Code 0.11, `~/.qwen/projects/*/chats/*.jsonl`: `chatRecordingService.ts` |
//! | `cursor-agent` | `cursor-agent -p --output-format stream-json`: Cursor's page "Output format" |
//! | `codex-exec` | `codex exec --json` 0.44 and later: its `exec_events.rs` |
//! | `opencode-run` | `opencode run --format json` 1.0: its `cli/cmd/run.ts` |
//! | `goose` | Goose 1.9 and older, `~/.local/share/goose/sessions/*.jsonl`: its `session/storage.rs` |
//! | `continue` | Continue 1.2, `~/.continue/sessions/*.json`: `Session` of its `core/index.d.ts` |
//! | `chatgpt` | the export of ChatGPT, `conversations.json`: a tree of nodes a conversation |
//! | `claude-ai` | the export of Claude.ai, `conversations.json` |
//! | `lm-studio` | LM Studio 0.3, `~/.lmstudio/conversations/**/*.conversation.json` |
//! | `open-webui` | Open WebUI 0.6, "Export chats": a list of chats with their `history` |
//! | `sillytavern` | SillyTavern 1.13, `data/*/chats/*/*.jsonl`: its first line, then a message a line |
//! | `messages` | messages alone: a line each, or a list, as the SDKs dump them |
//! | `langgraph` | the state of a LangGraph 1.0 graph, as `dumpd` and the platform's API write it |

use serde_json::Value;

use crate::import::head::Certainty;
use crate::import::log::{About, Is, Log, Reading, Rule};
use crate::import::paths;
use crate::import::reader::{Foreign, Out, entries};
use crate::import::spans;
use crate::import::take::Object;

entries! { Reading;
    PI_ENTRY = PI, "pi", "sessions of pi and OpenClaw (.jsonl)";
    ATIF_ENTRY = ATIF, "atif", "trajectories of Harbor and Terminal-Bench 2 (ATIF)";
    GEMINI_STREAM_ENTRY = GEMINI_STREAM, "gemini-stream", "`gemini -o stream-json` of Gemini CLI and Qwen Code";
    QWEN_CODE_ENTRY = QWEN_CODE, "qwen-code", "chats of Qwen Code (.jsonl)";
    CURSOR_AGENT_ENTRY = CURSOR_AGENT, "cursor-agent", "`cursor-agent -p --output-format stream-json`";
    CODEX_EXEC_ENTRY = CODEX_EXEC, "codex-exec", "`codex exec --json`";
    OPENCODE_RUN_ENTRY = OPENCODE_RUN, "opencode-run", "`opencode run --format json`";
    GOOSE_ENTRY = GOOSE, "goose", "sessions of Goose (.jsonl, sessions.db)";
    CONTINUE_ENTRY = CONTINUE, "continue", "sessions of Continue (.json)";
    CHATGPT_ENTRY = CHATGPT, "chatgpt", "the export of ChatGPT (conversations.json)";
    CLAUDE_AI_ENTRY = CLAUDE_AI, "claude-ai", "the export of Claude.ai (conversations.json)";
    LM_STUDIO_ENTRY = LM_STUDIO, "lm-studio", "conversations of LM Studio (.conversation.json)";
    OPEN_WEBUI_ENTRY = OPEN_WEBUI, "open-webui", "exported chats of Open WebUI, and its database (webui.db)";
    SILLYTAVERN_ENTRY = SILLYTAVERN, "sillytavern", "chats of SillyTavern (.jsonl)";
    MESSAGES_ENTRY = MESSAGES, "messages", "messages alone (role, content), a line each or a list";
    LANGGRAPH_ENTRY = LANGGRAPH, "langgraph", "states of LangGraph: `messages` of LangChain's types";
}

/// Nothing is said of the run.
pub(super) const NOTHING: About = About {
    id: &[],
    model: &[],
    time: &[],
    reason: &[],
    usage: &[],
    beside: &[],
};

static PI: Log = Log {
    marks: &[
        &[("type", "session"), ("version", ""), ("cwd", "")],
        &[
            ("type", "message"),
            ("message.role", "user|assistant|toolResult"),
            ("id", ""),
            ("sessionId", "!"),
        ],
    ],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        model: &["modelId", "model"],
        time: &["timestamp"],
        reason: &["stopReason"],
        beside: &["parentId", "provider", "api", "toolName"],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("type", "session")],
            is: Is::About,
        },
        Rule {
            when: &[("type", "model_change")],
            is: Is::About,
        },
        Rule {
            when: &[
                ("type", "message"),
                ("message.role", "user|assistant|toolResult"),
            ],
            is: Is::Message("message"),
        },
    ],
};

static ATIF: Log = Log {
    marks: &[
        &[("schema_version", ""), ("steps", ""), ("agent.name", "")],
        &[("steps[0].step_id", ""), ("steps[0].source", "")],
    ],
    sure: Certainty::Certain,
    records: &["steps[]"],
    whole: true,
    shape: None,
    about: About {
        id: &["session_id", "trajectory_id"],
        model: &["agent.model_name", "model_name"],
        time: &["timestamp"],
        usage: &["metrics"],
        beside: &["step_id", "schema_version"],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("source", "user|agent|system")],
        is: Is::Step {
            results: "observation.results[]",
        },
    }],
};

static GEMINI_STREAM: Log = Log {
    marks: &[
        &[("type", "init"), ("session_id", ""), ("timestamp", "")],
        &[
            ("type", "message"),
            ("role", "user|assistant"),
            ("timestamp", ""),
            ("content", ""),
        ],
    ],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        id: &["session_id"],
        model: &["model"],
        time: &["timestamp"],
        beside: &["delta"],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("type", "init")],
            is: Is::About,
        },
        Rule {
            when: &[("type", "message"), ("role", "user")],
            is: Is::User("content"),
        },
        Rule {
            when: &[("type", "message"), ("role", "assistant|model")],
            is: Is::Answer("content"),
        },
        Rule {
            when: &[("type", "thought")],
            is: Is::Thought("content"),
        },
        Rule {
            when: &[("type", "tool_use")],
            is: Is::Call {
                id: "tool_id",
                name: "tool_name",
                arguments: "parameters",
            },
        },
        Rule {
            when: &[("type", "tool_result")],
            is: Is::Result {
                id: "tool_id",
                content: &["output", "error.message"],
                error: "status",
            },
        },
        Rule {
            when: &[("type", "result")],
            is: Is::Ended("status"),
        },
    ],
};

static QWEN_CODE: Log = Log {
    marks: &[&[("sessionId", ""), ("uuid", ""), ("message.parts", "")]],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        id: &["sessionId"],
        model: &["model"],
        time: &["timestamp"],
        usage: &["usageMetadata"],
        beside: &[
            "uuid",
            "parentUuid",
            "cwd",
            "version",
            "toolCallResult",
            "gitBranch",
        ],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[
            ("type", "user|assistant|tool_result"),
            ("message.parts", ""),
        ],
        is: Is::Message("message"),
    }],
};

static CURSOR_AGENT: Log = Log {
    marks: &[
        &[("type", "tool_call"), ("call_id", ""), ("session_id", "")],
        &[
            ("type", "system"),
            ("subtype", "init"),
            ("session_id", ""),
            ("apiKeySource", ""),
            ("tools", "!"),
        ],
    ],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        id: &["session_id"],
        model: &["model"],
        time: &["timestamp_ms"],
        beside: &[
            "cwd",
            "apiKeySource",
            "permissionMode",
            "duration_ms",
            "duration_api_ms",
            "request_id",
        ],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("type", "system")],
            is: Is::About,
        },
        Rule {
            when: &[("type", "user")],
            is: Is::Message("message"),
        },
        Rule {
            when: &[("type", "assistant")],
            is: Is::Answer("message.content"),
        },
        Rule {
            when: &[("type", "thinking")],
            is: Is::Thought("text"),
        },
        Rule {
            when: &[("type", "tool_call"), ("subtype", "started")],
            is: Is::Call {
                id: "call_id",
                name: "tool_call",
                arguments: "tool_call.*.args",
            },
        },
        Rule {
            when: &[("type", "tool_call"), ("subtype", "completed")],
            is: Is::Result {
                id: "call_id",
                content: &[
                    "tool_call.*.result.success.content",
                    "tool_call.*.result.success.stdout",
                    "tool_call.*.result.error.message",
                    "tool_call.*.result",
                ],
                error: "tool_call.*.result.error",
            },
        },
        Rule {
            when: &[("type", "result")],
            is: Is::Last("result"),
        },
        Rule {
            when: &[("type", "result"), ("subtype", "")],
            is: Is::Ended("subtype"),
        },
    ],
};

static CODEX_EXEC: Log = Log {
    marks: &[
        &[("type", "thread.started"), ("thread_id", "")],
        &[("type", "item.completed|item.started"), ("item.type", "")],
    ],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        id: &["thread_id"],
        usage: &["usage"],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("type", "thread.started|turn.started")],
            is: Is::About,
        },
        Rule {
            when: &[("type", "turn.completed|turn.failed|error")],
            is: Is::Ended("type"),
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "reasoning")],
            is: Is::Thought("item.text"),
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "agent_message")],
            is: Is::Answer("item.text"),
        },
        Rule {
            when: &[
                ("type", "item.completed"),
                ("item.type", "command_execution"),
            ],
            is: Is::Call {
                id: "item.id",
                name: "command_execution",
                arguments: "item.command",
            },
        },
        Rule {
            when: &[
                ("type", "item.completed"),
                ("item.type", "command_execution"),
            ],
            is: Is::Result {
                id: "item.id",
                content: &["item.aggregated_output"],
                error: "item.exit_code",
            },
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "mcp_tool_call")],
            is: Is::Call {
                id: "item.id",
                name: "item.tool",
                arguments: "item.arguments",
            },
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "mcp_tool_call")],
            is: Is::Result {
                id: "item.id",
                content: &["item.error.message", "item.result.content", "item.result"],
                error: "item.status",
            },
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "file_change")],
            is: Is::Call {
                id: "item.id",
                name: "file_change",
                arguments: "item.changes",
            },
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "file_change")],
            is: Is::Result {
                id: "item.id",
                content: &["item.status"],
                error: "item.status",
            },
        },
        Rule {
            when: &[("type", "item.completed"), ("item.type", "web_search")],
            is: Is::Call {
                id: "item.id",
                name: "web_search",
                arguments: "item.query",
            },
        },
    ],
};

static OPENCODE_RUN: Log = Log {
    marks: &[&[
        ("type", "text|tool_use|step_start|step_finish|reasoning"),
        ("sessionID", ""),
        ("part.type", ""),
    ]],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        id: &["sessionID"],
        model: &["part.modelID"],
        time: &["timestamp"],
        reason: &["part.reason"],
        usage: &["part.tokens"],
        beside: &[
            "part.id",
            "part.sessionID",
            "part.messageID",
            "part.time",
            "part.type",
        ],
    },
    rules: &[
        Rule {
            when: &[("type", "step_start|step_finish|error")],
            is: Is::About,
        },
        Rule {
            when: &[("type", "text")],
            is: Is::Answer("part.text"),
        },
        Rule {
            when: &[("type", "reasoning")],
            is: Is::Thought("part.text"),
        },
        Rule {
            when: &[("type", "tool_use")],
            is: Is::Call {
                id: "part.callID",
                name: "part.tool",
                arguments: "part.state.input",
            },
        },
        Rule {
            when: &[
                ("type", "tool_use"),
                ("part.state.status", "completed|error"),
            ],
            is: Is::Result {
                id: "part.callID",
                content: &["part.state.output", "part.state.error"],
                error: "part.state.status",
            },
        },
    ],
};

static GOOSE: Log = Log {
    marks: &[
        &[("working_dir", ""), ("message_count", "")],
        &[
            ("role", "user|assistant"),
            ("created", ""),
            ("content[0].type", "toolRequest|toolResponse"),
        ],
    ],
    sure: Certainty::Certain,
    records: &["conversation[]"],
    whole: false,
    shape: None,
    about: About {
        id: &["session"],
        model: &["model_config.model_name"],
        time: &["created"],
        beside: &[
            "id",
            "model_config",
            "working_dir",
            "message_count",
            "schedule_id",
            "metadata",
        ],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("working_dir", ""), ("role", "!")],
            is: Is::About,
        },
        Rule {
            when: &[("role", "user|assistant")],
            is: Is::Message(""),
        },
    ],
};

static CONTINUE: Log = Log {
    marks: &[
        &[("sessionId", ""), ("history[0].message.role", "")],
        &[("workspaceDirectory", ""), ("history", "")],
    ],
    sure: Certainty::Certain,
    records: &["history[]"],
    whole: true,
    shape: None,
    about: About {
        id: &["sessionId"],
        model: &["chatModelTitle", "promptLogs[0].modelTitle"],
        beside: &["message.id", "editorState", "contextItems"],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("message.role", "")],
        is: Is::Message("message"),
    }],
};

static CHATGPT: Log = Log {
    marks: &[&[("mapping", ""), ("current_node", "")]],
    sure: Certainty::Certain,
    records: &["chain[]"],
    whole: true,
    shape: Some(chatgpt),
    about: About {
        id: &["conversation_id", "id"],
        model: &["metadata.model_slug", "default_model_slug"],
        time: &["create_time"],
        reason: &["metadata.finish_details.type"],
        beside: &[
            "id",
            "status",
            "end_turn",
            "weight",
            "update_time",
            "author",
        ],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("role", "assistant"), ("kind", "code")],
            is: Is::Call {
                id: "call",
                name: "recipient",
                arguments: "content",
            },
        },
        Rule {
            when: &[("role", ""), ("kind", "said")],
            is: Is::Message(""),
        },
    ],
};

/// The nodes of a tree from the first to one of them; how many are on no such way is counted.
fn chain(nodes: Value, last: Option<Value>, parent: &str, out: &mut Out) -> Vec<Value> {
    let Value::Object(mut nodes) = nodes else {
        return Vec::new();
    };
    let mut chain = Vec::new();
    let mut at = last.and_then(|id| Some(id.as_str()?.to_owned()));
    // A node is taken once, so that no circle is walked twice.
    while let Some(node) = at.take().and_then(|id| nodes.remove(&id)) {
        at = node.get(parent).and_then(Value::as_str).map(str::to_owned);
        chain.push(node);
    }
    chain.reverse();
    for node in nodes.values() {
        let said = node.get("message").unwrap_or(node);
        if !said.is_null() {
            out.losses.add("(a message of another branch)");
        }
    }
    chain
}

/// The way through the tree that was shown last.
fn chatgpt(object: &mut Object, out: &mut Out) {
    let nodes = object.remove("mapping").unwrap_or_default();
    let chain = chain(nodes, object.remove("current_node"), "parent", out);
    let messages = chain.into_iter().filter_map(|mut node| {
        let Value::Object(mut message) = node.get_mut("message")?.take() else {
            return None;
        };
        let role = paths::take(&mut message, "author.role")?;
        message.insert("role".to_owned(), role);
        let kind = paths::take(&mut message, "content.content_type");
        let thoughts = paths::all(&mut message, "content.thoughts[].content");
        let thoughts: Vec<&str> = thoughts.iter().filter_map(Value::as_str).collect();
        let code = kind == Some("code".into());
        let text = paths::first(
            &mut message,
            &["content.parts", "content.text", "content.result"],
        );
        message.insert("kind".to_owned(), if code { "code" } else { "said" }.into());
        if !thoughts.is_empty() {
            message.insert("reasoning".to_owned(), thoughts.join("\n").into());
        }
        let rest = message.remove("content");
        message.insert("content".to_owned(), text.unwrap_or_default());
        message.extend(rest.map(|rest| ("content_rest".to_owned(), rest)));
        Some(Value::Object(message))
    });
    let messages: Vec<Value> = messages.collect();
    object.insert("chain".to_owned(), messages.into());
}

static CLAUDE_AI: Log = Log {
    marks: &[&[("uuid", ""), ("chat_messages", "")]],
    sure: Certainty::Certain,
    records: &["chat_messages[]"],
    whole: true,
    shape: Some(claude_ai),
    about: About {
        id: &["uuid"],
        model: &["model"],
        time: &["created_at"],
        beside: &[
            "updated_at",
            "account",
            "uuid",
            "parent_message_uuid",
            "index",
        ],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("sender", "human|assistant")],
        is: Is::Message(""),
    }],
};

/// Newer exports hold each text twice.
fn claude_ai(object: &mut Object, _: &mut Out) {
    let messages = object
        .get_mut("chat_messages")
        .and_then(Value::as_array_mut);
    for message in messages
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        let blocks = message.get("content").and_then(Value::as_array);
        if blocks.is_some_and(|blocks| !blocks.is_empty()) {
            drop(message.remove("text"))
        } else {
            drop(message.remove("content"))
        }
    }
}

static LM_STUDIO: Log = Log {
    marks: &[&[("messages[0].versions", "")]],
    sure: Certainty::Certain,
    records: &["chain[]"],
    whole: true,
    shape: Some(lm_studio),
    about: About {
        model: &["lastUsedModel.identifier", "model"],
        reason: &["stop"],
        beside: &["createdAt"],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("role", "")],
        is: Is::Message(""),
    }],
};

/// Of each message the version that is shown, the steps of an answer as its blocks.
fn lm_studio(object: &mut Object, out: &mut Out) {
    let mut chain = Vec::new();
    for mut message in paths::all(object, "messages[]") {
        let at = message.get("currentlySelected").and_then(Value::as_u64);
        let mut versions = match message.get_mut("versions").map(Value::take) {
            Some(Value::Array(versions)) => versions,
            _ => Vec::new(),
        };
        let at = at.map_or(0, |at| at as usize);
        let shown = (at < versions.len()).then(|| versions.swap_remove(at));
        let Some(Value::Object(mut version)) = shown else {
            out.losses
                .add("(a message without the version that is shown)");
            continue;
        };
        for _ in &versions {
            out.losses.add("(another version of a message)");
        }
        let mut said = Object::new();
        for (name, path) in [
            ("role", "role"),
            ("content", "content"),
            ("model", "senderInfo.senderName"),
        ] {
            said.extend(paths::take(&mut version, path).map(|value| (name.to_owned(), value)));
        }
        let mut blocks = Vec::new();
        for step in paths::all(&mut version, "steps[]") {
            let Value::Object(mut step) = step else {
                continue;
            };
            let thinking = paths::get(&step, "style.type") == Some("thinking".into());
            let reason = paths::take(&mut step, "genInfo.stats.stopReason");
            said.extend(reason.map(|reason| ("stop".to_owned(), reason)));
            for mut block in paths::all(&mut step, "content[]") {
                if thinking && let Some(block) = block.as_object_mut() {
                    block.insert("type".to_owned(), "thinking".into());
                }
                blocks.push(block);
            }
            step.remove("type");
            step.remove("style");
            out.losses.rest("messages[].versions[].steps[]", &step);
        }
        if !blocks.is_empty() {
            said.insert("content".to_owned(), blocks.into());
        }
        chain.push(Value::Object(said));
    }
    object.insert("chain".to_owned(), chain.into());
}

static OPEN_WEBUI: Log = Log {
    marks: &[
        &[("chat.history.messages", "")],
        &[("history.messages", ""), ("history.currentId", "")],
    ],
    sure: Certainty::Certain,
    records: &["chain[]"],
    whole: true,
    shape: Some(open_webui),
    about: About {
        id: &["id"],
        model: &["model"],
        time: &["timestamp"],
        usage: &["usage"],
        beside: &[
            "parentId",
            "childrenIds",
            "modelName",
            "modelIdx",
            "done",
            "user_id",
            "chat.messages",
            "chat.id",
            "models",
            "updated_at",
            "created_at",
        ],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("role", "")],
        is: Is::Message(""),
    }],
};

/// The way through the tree that was shown last, thinking apart.
fn open_webui(object: &mut Object, out: &mut Out) {
    let history = paths::first(object, &["chat.history", "history"]).unwrap_or_default();
    let Value::Object(mut history) = history else {
        return;
    };
    let nodes = history.remove("messages").unwrap_or_default();
    let mut chain = chain(nodes, history.remove("currentId"), "parentId", out);
    for message in chain.iter_mut().filter_map(Value::as_object_mut) {
        message.remove("id");
        let content = message.get("content").and_then(Value::as_str);
        if let Some((thought, said)) = content.and_then(details) {
            message.insert("content".to_owned(), said.into());
            message.insert("reasoning".to_owned(), thought.into());
        }
    }
    object.insert("chain".to_owned(), chain.into());
}

/// What is in `<details type="reasoning">` before an answer, each line behind `> `, and the answer.
fn details(content: &str) -> Option<(String, String)> {
    let inside = content
        .trim_start()
        .strip_prefix("<details type=\"reasoning\"")?;
    let (_, inside) = inside.split_once('>')?;
    let (thought, said) = inside.split_once("</details>")?;
    let thought = match thought.split_once("</summary>") {
        Some((_, thought)) => thought,
        None => thought,
    };
    let lines = thought.trim_matches('\n').lines();
    let lines = lines.map(|line| {
        line.strip_prefix("> ")
            .unwrap_or(line.trim_start_matches('>'))
    });
    let lines: Vec<&str> = lines.collect();
    Some((lines.join("\n"), said.trim_start_matches('\n').to_owned()))
}

static SILLYTAVERN: Log = Log {
    marks: &[
        &[("is_user", ""), ("mes", "")],
        &[("character_name", ""), ("user_name", "")],
    ],
    sure: Certainty::Certain,
    records: &[],
    whole: false,
    shape: Some(sillytavern),
    about: About {
        model: &["extra.model"],
        time: &["gen_finished"],
        beside: &[
            "name",
            "send_date",
            "gen_started",
            "swipe_id",
            "is_user",
            "is_system",
            "force_avatar",
        ],
        ..NOTHING
    },
    rules: &[
        Rule {
            when: &[("character_name", ""), ("mes", "!")],
            is: Is::About,
        },
        Rule {
            when: &[("role", ""), ("mes", "")],
            is: Is::Message(""),
        },
    ],
};

/// Says who speaks, and what was thought; answers that were swiped away are counted.
fn sillytavern(object: &mut Object, out: &mut Out) {
    let flag = |name: &str| object.get(name) == Some(&Value::Bool(true));
    let role = match (flag("is_user"), flag("is_system")) {
        (true, _) => "user",
        (_, true) => "system",
        _ => "assistant",
    };
    if object.contains_key("mes") {
        object.insert("role".to_owned(), role.into());
    }
    if let Some(thought) = paths::take(object, "extra.reasoning") {
        object.insert("reasoning".to_owned(), thought);
    }
    if let Some(Value::Array(swipes)) = object.remove("swipes") {
        for _ in swipes.iter().skip(1) {
            out.losses.add("[].swipes[] (another answer)");
        }
    }
}

static MESSAGES: Log = Log {
    marks: &[&[
        ("role", "user|assistant|system|developer|tool"),
        ("content", ""),
        ("type", "!"),
        ("created", "!"),
        ("timestamp", "!"),
    ]],
    sure: Certainty::Likely,
    records: &[],
    whole: false,
    shape: None,
    about: About {
        model: &["model"],
        reason: &["finish_reason", "stop_reason"],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("role", "")],
        is: Is::Message(""),
    }],
};

static LANGGRAPH: Log = Log {
    marks: &[
        &[
            ("messages[0].type", "human|ai|system"),
            ("messages[0].content", ""),
        ],
        &[
            ("messages[1].type", "human|ai|system"),
            ("messages[1].content", ""),
        ],
    ],
    sure: Certainty::Certain,
    records: &["messages[]"],
    whole: true,
    shape: Some(langgraph),
    about: About {
        id: &["thread_id"],
        model: &["about.model_name", "about.model"],
        reason: &[
            "about.finish_reason",
            "about.stop_reason",
            "about.done_reason",
        ],
        ..NOTHING
    },
    rules: &[Rule {
        when: &[("role", "")],
        is: Is::Message(""),
    }],
};

/// Messages of LangChain in the words of OpenAI's.
fn langgraph(object: &mut Object, _: &mut Out) {
    let Some(Value::Array(messages)) = object.get_mut("messages") else {
        return;
    };
    for message in messages {
        let about = message.get("response_metadata").cloned();
        if let Some(mut said) = spans::message(message.take()) {
            said.extend(about.map(|about| ("about".to_owned(), about)));
            *message = Value::Object(said);
        }
    }
}
