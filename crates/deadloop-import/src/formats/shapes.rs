//! Conversions of documents and records that the rows of a format cannot describe, by name.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Value, json};

use crate::paths;
use crate::reader::Output;
use crate::sessions::spans;
use crate::source::records;
use deadloop_stream::fields::{Object, ReadFields};

/// A conversion of a document or record to the shape that the paths of its format expect.
pub(crate) type ShapeConversion = fn(&mut Object, &mut Output);

/// Conversions, by the value of `shape` in the TOML file of a format.
const SHAPE_CONVERSIONS: [(&str, ShapeConversion); 11] = [
    ("chatgpt", convert_chatgpt),
    ("claude-ai", convert_claude_ai),
    ("claude-code", convert_claude_code),
    ("codex", convert_codex),
    ("crush", convert_crush),
    ("cursor", convert_cursor),
    ("langgraph", convert_langgraph),
    ("lm-studio", convert_lm_studio),
    ("open-webui", convert_open_webui),
    ("sillytavern", convert_sillytavern),
    ("vscode", convert_vscode),
];

/// Deserializes the name of a conversion.
pub(crate) fn deserialize_conversion<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<ShapeConversion>, D::Error> {
    let name = String::deserialize(from)?;
    let found = SHAPE_CONVERSIONS.iter().find(|(known, _)| *known == name);
    let names = SHAPE_CONVERSIONS.map(|(name, _)| name).join(", ");
    let unknown = || D::Error::custom(format!("no shape {name:?}; expected one of {names}"));
    found.map(|(_, shape)| Some(*shape)).ok_or_else(unknown)
}

/// Returns the nodes of a tree on the path from the root to the node `last`. Messages of other branches count as
/// losses.
fn take_branch(nodes: Value, last: Option<Value>, parent: &str, out: &mut Output) -> Vec<Value> {
    let Value::Object(mut nodes) = nodes else {
        return Vec::new();
    };
    let mut chain = Vec::new();
    let mut at = last.and_then(|id| Some(id.as_str()?.to_owned()));
    // Nodes are removed, so that a cycle ends.
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

/// Replaces the message tree by the messages of the current branch.
fn convert_chatgpt(object: &mut Object, out: &mut Output) {
    let nodes = object.remove("mapping").unwrap_or_default();
    let chain = take_branch(nodes, object.remove("current_node"), "parent", out);
    let messages = chain.into_iter().filter_map(|mut node| {
        let Value::Object(mut message) = node.get_mut("message")?.take() else {
            return None;
        };
        let role = paths::take_at(&mut message, "author.role")?;
        message.insert("role".to_owned(), role);
        let kind = paths::take_at(&mut message, "content.content_type");
        let thoughts = paths::take_all(&mut message, "content.thoughts[].content");
        let thoughts: Vec<&str> = thoughts.iter().filter_map(Value::as_str).collect();
        let code = kind == Some("code".into());
        let text = paths::take_first_of(
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

/// Removes one of the two copies of each text in newer exports.
fn convert_claude_ai(object: &mut Object, _: &mut Output) {
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

/// Sets the run of a line: a session, or a subagent of a session. Messages of the program itself become system prompts.
fn convert_claude_code(line: &mut Object, out: &mut Output) {
    let named = ["sessionId", "session_id"].map(|name| line.take_label(name));
    let session = named.into_iter().flatten().next().unwrap_or_default();
    let is_side = line.take("isSidechain") == Some(true.into());
    let parent = line.take_label("parent_tool_use_id");
    let agent = line.take_label("agentId").filter(|_| is_side).or(parent);
    let run = match (agent, is_side) {
        (Some(agent), _) => format!("{session}/{agent}"),
        (None, true) => format!("{session}/sidechain"),
        (None, false) => session,
    };
    line.insert("run".to_owned(), run.into());
    // Parsed result, whose text is in the message.
    if line.take("toolUseResult").is_some() {
        out.losses.add("toolUseResult");
    }
    let subtype = line.get_str("subtype").to_owned();
    if line.get_str("type") == "system" && subtype != "init" {
        line.insert("type".to_owned(), format!("system {subtype}").into());
    }
    if !matches!(line.get_str("type"), "user" | "assistant") {
        return;
    }
    line.rename_fields(&[("timestamp", "time")]);
    let flags = ["isMeta", "isCompactSummary"];
    let [is_meta, is_summary] = flags.map(|flag| line.take(flag) == Some(true.into()));
    let Some(Value::Object(message)) = line.get_mut("message") else {
        return;
    };
    let is_user = message.get_str("role") == "user";
    // Messages of the program, such as API errors.
    let is_of_program = message.get_str("model").starts_with('<');
    if is_of_program || is_user && (is_meta || is_summary) {
        message.insert("role".to_owned(), "system".into());
    }
    if is_user && is_summary {
        line.insert("compaction".to_owned(), true.into());
    }
}

/// Replaces each message by its displayed version, with the steps of an answer as blocks.
fn convert_lm_studio(object: &mut Object, out: &mut Output) {
    let mut chain = Vec::new();
    for mut message in paths::take_all(object, "messages[]") {
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
            said.extend(paths::take_at(&mut version, path).map(|value| (name.to_owned(), value)));
        }
        let mut blocks = Vec::new();
        for step in paths::take_all(&mut version, "steps[]") {
            let mut step = paths::object_or_empty(step);
            let thinking =
                paths::get_at(&step, "style.type").is_some_and(|kind| *kind == "thinking");
            let reason = paths::take_at(&mut step, "genInfo.stats.stopReason");
            said.extend(reason.map(|reason| ("stop".to_owned(), reason)));
            for mut block in paths::take_all(&mut step, "content[]") {
                if thinking && let Some(block) = block.as_object_mut() {
                    block.insert("type".to_owned(), "thinking".into());
                }
                blocks.push(block);
            }
            step.remove("type");
            step.remove("style");
            out.losses
                .add_fields("messages[].versions[].steps[]", &step);
        }
        if !blocks.is_empty() {
            said.insert("content".to_owned(), blocks.into());
        }
        chain.push(Value::Object(said));
    }
    object.insert("chain".to_owned(), chain.into());
}

/// Replaces the message tree by the messages of the current branch, split into reasoning and answer.
fn convert_open_webui(object: &mut Object, out: &mut Output) {
    let history = paths::take_first_of(object, &["chat.history", "history"]).unwrap_or_default();
    let Value::Object(mut history) = history else {
        return;
    };
    let nodes = history.remove("messages").unwrap_or_default();
    let mut chain = take_branch(nodes, history.remove("currentId"), "parentId", out);
    for message in chain.iter_mut().filter_map(Value::as_object_mut) {
        message.remove("id");
        let content = message.get("content").and_then(Value::as_str);
        if let Some((thought, said)) = content.and_then(split_details) {
            message.insert("content".to_owned(), said.into());
            message.insert("reasoning".to_owned(), thought.into());
        }
    }
    object.insert("chain".to_owned(), chain.into());
}

/// Splits a content into the reasoning in `<details type="reasoning">`, without the line prefixes `> `, and the
/// answer.
fn split_details(content: &str) -> Option<(String, String)> {
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

/// Sets the role and the reasoning of a message. Discarded answers count as losses.
fn convert_sillytavern(object: &mut Object, out: &mut Output) {
    let flag = |name: &str| object.get(name) == Some(&Value::Bool(true));
    let role = match (flag("is_user"), flag("is_system")) {
        (true, _) => "user",
        (_, true) => "system",
        _ => "assistant",
    };
    if object.contains_key("mes") {
        object.insert("role".to_owned(), role.into());
    }
    if let Some(thought) = paths::take_at(object, "extra.reasoning") {
        object.insert("reasoning".to_owned(), thought);
    }
    if let Some(Value::Array(swipes)) = object.remove("swipes") {
        for _ in swipes.iter().skip(1) {
            out.losses.add("[].swipes[] (another answer)");
        }
    }
}

/// Converts requests to messages: the rounds of the model, each with its tool calls and results.
///
/// The parts of a response repeat the rounds. Only a request without rounds keeps its parts.
fn convert_vscode(object: &mut Object, out: &mut Output) {
    let mut chain = Vec::new();
    for request in paths::take_all(object, "requests[]") {
        let Value::Object(mut request) = request else {
            continue;
        };
        let mut take = |path: &str| paths::take_at(&mut request, path).unwrap_or_default();
        let (asked, time) = (take("message.text"), take("timestamp"));
        let model = take("modelId");
        chain.push(json!({"asked": asked, "timestamp": time, "modelId": model}));
        let results = take("result.metadata.toolCallResults");
        let id = take("result.metadata.sessionId");
        object.entry("sessionId").or_insert(id);
        let rounds = paths::take_all(&mut request, "result.metadata.toolCallRounds[]");
        if rounds.is_empty() {
            chain.extend(paths::take_all(&mut request, "response[]"));
        }
        for round in rounds {
            let Value::Object(mut round) = round else {
                continue;
            };
            let mut take = |path: &str| paths::take_at(&mut round, path);
            chain.extend(take("summary").map(|summary| json!({"summary": summary})));
            let calls = take("toolCalls").unwrap_or_default();
            let thought = take("thinking.text").map(|text| spans::to_text(Some(text)));
            chain.push(json!({"role": "assistant", "content": take("response"),
                "reasoning": thought, "tool_calls": &calls}));
            let calls = calls.as_array().into_iter().flatten();
            chain.extend(calls.filter_map(|call| {
                let id = call.get("id")?.as_str()?;
                let mut text = String::new();
                add_texts(results.get(id)?, &mut text);
                Some(json!({"role": "tool", "tool_call_id": id, "content": text}))
            }));
        }
        out.losses.add_fields("requests[]", &request);
    }
    object.insert("chain".to_owned(), chain.into());
}

/// Appends the texts of a tool result: strings, or the leaves of a tree of nodes.
fn add_texts(part: &Value, text: &mut String) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| add_texts(part, text)),
        Value::Object(fields) => {
            if fields.get("lineBreakBefore") == Some(&Value::Bool(true)) {
                text.push('\n');
            }
            for name in ["text", "value", "content", "node", "children"] {
                match fields.get(name) {
                    Some(Value::String(words)) => text.push_str(words),
                    Some(inner) => add_texts(inner, text),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Converts messages of LangChain to OpenAI's fields.
fn convert_langgraph(object: &mut Object, _: &mut Output) {
    let Some(Value::Array(messages)) = object.get_mut("messages") else {
        return;
    };
    for message in messages {
        let about = message.get("response_metadata").cloned();
        if let Some(mut said) = spans::to_message(message.take()) {
            said.extend(about.map(|about| ("about".to_owned(), about)));
            *message = Value::Object(said);
        }
    }
}

/// Wraps the items of older files. Sets flags for Codex's own messages to the model and for tool failures.
fn convert_codex(line: &mut Object, _: &mut Output) {
    if !line.contains_key("payload") && !line.contains_key("record_type") {
        // The head of an older file has no type.
        let is_item = line.get("type").is_some_and(Value::is_string);
        let kind = if is_item {
            "response_item"
        } else {
            "session_meta"
        };
        let mut item = std::mem::take(line);
        let stamp = item.remove("timestamp");
        line.extend(stamp.map(|stamp| ("timestamp".to_owned(), stamp)));
        line.insert("type".to_owned(), kind.into());
        line.insert("payload".to_owned(), item.into());
    }
    let Some(Value::Object(item)) = line.get_mut("payload") else {
        return;
    };
    if item.get("role").and_then(Value::as_str) == Some("user") {
        let text = spans::to_text(item.get("content").cloned());
        let begins = |begin: &&str| text.trim_start().starts_with(begin);
        if CODEX_CONTEXT.iter().any(begins) {
            item.insert("told".to_owned(), "yes".into());
        }
    }
    let Some(output) = item.get_mut("output") else {
        return;
    };
    let success = output.get("success").and_then(Value::as_bool);
    if let Some(content) = output.get_mut("content").map(Value::take) {
        *output = content;
    }
    let code = match &*output {
        Value::String(text) => exit_code(text),
        other => exit_code(&spans::to_text(Some(other.clone()))),
    };
    let failed = success.map(|success| !success);
    if let Some(failed) = failed.or(code.map(|code| code != 0)) {
        item.insert("failed".to_owned(), failed.into());
    }
}

/// Prefixes of Codex's descriptions of the environment.
const CODEX_CONTEXT: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "# AGENTS.md instructions",
];

/// Returns the exit code in a tool's output, from JSON or from one of the first lines.
fn exit_code(text: &str) -> Option<i64> {
    let json = text
        .starts_with('{')
        .then(|| records::parse_nested(text).ok());
    let whole = json.flatten().as_ref().and_then(|json| {
        let code = json.get("metadata")?.get("exit_code")?;
        code.as_i64()
    });
    let named = |line: &str| {
        let rest = line.strip_prefix("Exit code: ");
        rest.or_else(|| line.strip_prefix("Process exited with code "))
            .map(str::to_owned)
    };
    whole.or_else(|| text.lines().take(4).find_map(named)?.trim().parse().ok())
}

/// Converts the parts of a message to blocks, and moves out the finish reason.
fn convert_crush(object: &mut Object, _: &mut Output) {
    let mut blocks = Vec::new();
    for mut part in paths::take_all(object, "parts[]") {
        let data = part.get_mut("data").map(Value::take).unwrap_or_default();
        let mut block = paths::object_or_empty(data);
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
    // Results of tools are user messages.
    if object.get("role").and_then(Value::as_str) == Some("tool") {
        object.insert("role".to_owned(), "user".into());
    }
    if object.contains_key("role") {
        object.insert("content".to_owned(), blocks.into());
    }
}

/// Removes token counts that are all 0, which Cursor writes for unknown counts.
fn convert_cursor(object: &mut Object, _: &mut Output) {
    let bubble = object.get_mut("bubble").and_then(Value::as_object_mut);
    let counts = bubble
        .as_ref()
        .and_then(|bubble| bubble.get("tokenCount")?.as_object());
    let unknown = counts.is_some_and(|counts| counts.values().all(|count| *count == 0));
    if let Some(bubble) = bubble.filter(|_| unknown) {
        bubble.remove("tokenCount");
    }
}
