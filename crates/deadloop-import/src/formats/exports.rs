//! Exports of chats, one row each.
//!
//! The fields of a row are in [`Log`].
//!
//! | row | written by, and where it is described |
//! |---|---|
//! | `chatgpt` | the export of ChatGPT, `conversations.json`: a tree of nodes for each conversation |
//! | `claude-ai` | the export of Claude.ai, `conversations.json` |
//! | `lm-studio` | LM Studio 0.3, `~/.lmstudio/conversations/**/*.conversation.json` |
//! | `open-webui` | Open WebUI 0.6, "Export chats": a list of chats with their `history` |
//! | `sillytavern` | SillyTavern 1.13, `data/*/chats/*/*.jsonl`: its first line, then one message per line |

use serde_json::Value;

use crate::log::{About, Is, LINES, Log, NOTHING, Reading, Rule};
use crate::paths;
use crate::reader::{Out, entries};
use deadloop_stream::take::Object;

entries! { Reading;
    CHATGPT_ENTRY = CHATGPT, "chatgpt", "the export of ChatGPT (conversations.json)";
    CLAUDE_AI_ENTRY = CLAUDE_AI, "claude-ai", "the export of Claude.ai (conversations.json)";
    LM_STUDIO_ENTRY = LM_STUDIO, "lm-studio", "conversations of LM Studio (.conversation.json)";
    OPEN_WEBUI_ENTRY = OPEN_WEBUI, "open-webui", "exported chats of Open WebUI, and its database (webui.db)";
    SILLYTAVERN_ENTRY = SILLYTAVERN, "sillytavern", "chats of SillyTavern (.jsonl)";
}

static CHATGPT: Log = Log {
    marks: &["mapping current_node"],
    records: &["chain[]"],
    whole: true,
    shape: Some(chatgpt),
    about: About {
        id: &["conversation_id", "id"],
        model: &["metadata.model_slug", "default_model_slug"],
        time: &["create_time"],
        reason: &["metadata.finish_details.type"],
        beside: "id status end_turn weight update_time author",
        ..NOTHING
    },
    rules: &[
        Rule::of(
            "role=assistant kind=code",
            Is::call("call", "recipient", "content"),
        ),
        Rule::of("role kind=said", Is::Message("")),
    ],
    ..LINES
};

/// Returns the nodes of a tree on the path to one node. The other nodes are counted as losses.
fn chain(nodes: Value, last: Option<Value>, parent: &str, out: &mut Out) -> Vec<Value> {
    let Value::Object(mut nodes) = nodes else {
        return Vec::new();
    };
    let mut chain = Vec::new();
    let mut at = last.and_then(|id| Some(id.as_str()?.to_owned()));
    // A node is taken once, so that a circle ends.
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

/// Takes the path through the tree that was shown last.
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
    marks: &["uuid chat_messages"],
    records: &["chat_messages[]"],
    whole: true,
    shape: Some(claude_ai),
    about: About {
        id: &["uuid"],
        model: &["model"],
        time: &["created_at"],
        beside: "updated_at account uuid parent_message_uuid index",
        ..NOTHING
    },
    rules: &[Rule::of("sender=human|assistant", Is::Message(""))],
    ..LINES
};

/// Removes one copy of each text, since newer exports have two.
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
    marks: &["messages[0].versions"],
    records: &["chain[]"],
    whole: true,
    shape: Some(lm_studio),
    about: About {
        model: &["lastUsedModel.identifier", "model"],
        reason: &["stop"],
        beside: "createdAt",
        ..NOTHING
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

/// Takes the shown version of each message, with the steps of an answer as blocks.
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
            let thinking = paths::get(&step, "style.type").is_some_and(|kind| *kind == "thinking");
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
        "chat.history.messages",
        "history.messages history.currentId",
    ],
    records: &["chain[]"],
    whole: true,
    shape: Some(open_webui),
    about: About {
        id: &["id"],
        model: &["model"],
        time: &["timestamp"],
        usage: &["usage"],
        beside: "parentId childrenIds modelName modelIdx done user_id chat.messages chat.id models updated_at created_at",
        ..NOTHING
    },
    rules: &[Rule::of("role", Is::Message(""))],
    ..LINES
};

/// Takes the path through the tree that was shown last, with thinking split off.
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

/// Splits a content into the thinking in `<details type="reasoning">`, each line after `> `, and the answer.
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
    marks: &["is_user mes", "character_name user_name"],
    shape: Some(sillytavern),
    about: About {
        model: &["extra.model"],
        time: &["gen_finished"],
        beside: "name send_date gen_started swipe_id is_user is_system force_avatar",
        ..NOTHING
    },
    rules: &[
        Rule::of("character_name !mes", Is::About),
        Rule::of("role mes", Is::Message("")),
    ],
    ..LINES
};

/// Sets the role and the thinking. Discarded answers are counted as losses.
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
