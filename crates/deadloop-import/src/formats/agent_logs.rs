//! Logs of agents, one row each.
//!
//! The fields of a row are in [`Log`].
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

use crate::log::{About, Is, LINES, Log, NOTHING, Reading, Rule};
use crate::reader::entries;

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
}

static PI: Log = Log {
    marks: &[
        "type=session version cwd",
        "type=message message.role=user|assistant|toolResult id !sessionId",
    ],
    about: About {
        model: &["modelId", "model"],
        time: &["timestamp"],
        reason: &["stopReason"],
        beside: "parentId provider api toolName",
        ..NOTHING
    },
    rules: &[
        Rule::of("type=session", Is::About),
        Rule::of("type=model_change", Is::About),
        Rule::of(
            "type=message message.role=user|assistant|toolResult",
            Is::Message("message"),
        ),
    ],
    ..LINES
};

static ATIF: Log = Log {
    marks: &[
        "schema_version steps agent.name",
        "steps[0].step_id steps[0].source",
    ],
    records: &["steps[]"],
    whole: true,
    about: About {
        id: &["session_id", "trajectory_id"],
        model: &["agent.model_name", "model_name"],
        time: &["timestamp"],
        usage: &["metrics"],
        beside: "step_id schema_version",
        ..NOTHING
    },
    rules: &[Rule::of(
        "source=user|agent|system",
        Is::Step {
            results: "observation.results[]",
        },
    )],
    ..LINES
};

static GEMINI_STREAM: Log = Log {
    marks: &[
        "type=init session_id timestamp",
        "type=message role=user|assistant timestamp content",
    ],
    about: About {
        id: &["session_id"],
        model: &["model"],
        time: &["timestamp"],
        beside: "delta",
        ..NOTHING
    },
    rules: &[
        Rule::of("type=init", Is::About),
        Rule::of("type=message role=user", Is::User("content")),
        Rule::of("type=message role=assistant|model", Is::Answer("content")),
        Rule::of("type=thought", Is::Thought("content")),
        Rule::of(
            "type=tool_use",
            Is::call("tool_id", "tool_name", "parameters"),
        ),
        Rule::of(
            "type=tool_result",
            Is::result("tool_id", &["output", "error.message"], "status"),
        ),
        Rule::of("type=result", Is::Ended("status")),
    ],
    ..LINES
};

static QWEN_CODE: Log = Log {
    marks: &["sessionId uuid message.parts"],
    about: About {
        id: &["sessionId"],
        model: &["model"],
        time: &["timestamp"],
        usage: &["usageMetadata"],
        beside: "uuid parentUuid cwd version toolCallResult gitBranch",
        ..NOTHING
    },
    rules: &[Rule::of(
        "type=user|assistant|tool_result message.parts",
        Is::Message("message"),
    )],
    ..LINES
};

static CURSOR_AGENT: Log = Log {
    marks: &[
        "type=tool_call call_id session_id",
        "type=system subtype=init session_id apiKeySource !tools",
    ],
    about: About {
        id: &["session_id"],
        model: &["model"],
        time: &["timestamp_ms"],
        beside: "cwd apiKeySource permissionMode duration_ms duration_api_ms request_id",
        ..NOTHING
    },
    rules: &[
        Rule::of("type=system", Is::About),
        Rule::of("type=user", Is::Message("message")),
        Rule::of("type=assistant", Is::Answer("message.content")),
        Rule::of("type=thinking", Is::Thought("text")),
        Rule::of(
            "type=tool_call subtype=started",
            Is::call("call_id", "tool_call", "tool_call.*.args"),
        ),
        Rule::of(
            "type=tool_call subtype=completed",
            Is::result(
                "call_id",
                &[
                    "tool_call.*.result.success.content",
                    "tool_call.*.result.success.stdout",
                    "tool_call.*.result.error.message",
                    "tool_call.*.result",
                ],
                "tool_call.*.result.error",
            ),
        ),
        Rule::of("type=result", Is::Last("result")),
        Rule::of("type=result subtype", Is::Ended("subtype")),
    ],
    ..LINES
};

static CODEX_EXEC: Log = Log {
    marks: &[
        "type=thread.started thread_id",
        "type=item.completed|item.started item.type",
    ],
    about: About {
        id: &["thread_id"],
        usage: &["usage"],
        ..NOTHING
    },
    rules: &[
        Rule::of("type=thread.started|turn.started", Is::About),
        Rule::of("type=turn.completed|turn.failed|error", Is::Ended("type")),
        Rule::of(
            "type=item.completed item.type=reasoning",
            Is::Thought("item.text"),
        ),
        Rule::of(
            "type=item.completed item.type=agent_message",
            Is::Answer("item.text"),
        ),
        Rule::of(
            "type=item.completed item.type=command_execution",
            Is::call("item.id", "command_execution", "item.command"),
        ),
        Rule::of(
            "type=item.completed item.type=command_execution",
            Is::result("item.id", &["item.aggregated_output"], "item.exit_code"),
        ),
        Rule::of(
            "type=item.completed item.type=mcp_tool_call",
            Is::call("item.id", "item.tool", "item.arguments"),
        ),
        Rule::of(
            "type=item.completed item.type=mcp_tool_call",
            Is::result(
                "item.id",
                &["item.error.message", "item.result.content", "item.result"],
                "item.status",
            ),
        ),
        Rule::of(
            "type=item.completed item.type=file_change",
            Is::call("item.id", "file_change", "item.changes"),
        ),
        Rule::of(
            "type=item.completed item.type=file_change",
            Is::result("item.id", &["item.status"], "item.status"),
        ),
        Rule::of(
            "type=item.completed item.type=web_search",
            Is::call("item.id", "web_search", "item.query"),
        ),
    ],
    ..LINES
};

static OPENCODE_RUN: Log = Log {
    marks: &["type=text|tool_use|step_start|step_finish|reasoning sessionID part.type"],
    about: About {
        id: &["sessionID"],
        model: &["part.modelID"],
        time: &["timestamp"],
        reason: &["part.reason"],
        usage: &["part.tokens"],
        beside: "part.id part.sessionID part.messageID part.time part.type",
    },
    rules: &[
        Rule::of("type=step_start|step_finish|error", Is::About),
        Rule::of("type=text", Is::Answer("part.text")),
        Rule::of("type=reasoning", Is::Thought("part.text")),
        Rule::of(
            "type=tool_use",
            Is::call("part.callID", "part.tool", "part.state.input"),
        ),
        Rule::of(
            "type=tool_use part.state.status=completed|error",
            Is::result(
                "part.callID",
                &["part.state.output", "part.state.error"],
                "part.state.status",
            ),
        ),
    ],
    ..LINES
};

static GOOSE: Log = Log {
    marks: &[
        "working_dir message_count",
        "role=user|assistant created content[0].type=toolRequest|toolResponse",
    ],
    records: &["conversation[]"],
    about: About {
        id: &["session"],
        model: &["model_config.model_name"],
        time: &["created"],
        beside: "id model_config working_dir message_count schedule_id metadata",
        ..NOTHING
    },
    rules: &[
        Rule::of("working_dir !role", Is::About),
        Rule::of("role=user|assistant", Is::Message("")),
    ],
    ..LINES
};

static CONTINUE: Log = Log {
    marks: &[
        "sessionId history[0].message.role",
        "workspaceDirectory history",
    ],
    records: &["history[]"],
    whole: true,
    about: About {
        id: &["sessionId"],
        model: &["chatModelTitle", "promptLogs[0].modelTitle"],
        beside: "message.id editorState contextItems",
        ..NOTHING
    },
    rules: &[Rule::of("message.role", Is::Message("message"))],
    ..LINES
};
