//! Responses and stream events of the Converse API of Amazon Bedrock.
//!
//! A response has `output.message` and `stopReason`. The events of `ConverseStream` have one key each (`messageStart`,
//! `contentBlockDelta`, …).
//!
//! The format: <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>.

use serde_json::Value;

use super::{Family, answer_event, finish_event, reasoning_event};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::reasons::usual;
use crate::wire::WireResult;

/// The keys of stream events that hold text or mark the stream's progress.
const EVENT_KEYS: [&str; 5] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
];

/// The family of Converse's responses and events.
pub const ENTRY: Family = Family {
    name: "bedrock",
    keys: &[
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "output",
        "stopReason",
        "ResponseMetadata",
    ],
    knows: |object| is_whole_response(object) || is_event(object) || is_metadata(object),
    read,
    ..Family::PLAIN
};

/// Returns whether the object is a response that was not streamed.
fn is_whole_response(object: &Object) -> bool {
    let message = object
        .get("output")
        .and_then(|output| output.get("message"));
    object.contains_key("stopReason") && message.is_some_and(Value::is_object)
}

fn is_event(object: &Object) -> bool {
    let known = |name: &&str| object.get(*name).is_some_and(Value::is_object);
    object.len() <= 2 && EVENT_KEYS.iter().any(known)
}

/// Returns whether the object is the metadata event, the last of a stream.
fn is_metadata(object: &Object) -> bool {
    let metadata = object.get("metadata");
    object.len() == 1 && metadata.is_some_and(|metadata| metadata.get("usage").is_some())
}

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    if is_whole_response(object) {
        parsed.begins = true;
        let mut output = fields::object(object, "output")?.unwrap_or_default();
        let mut message = fields::object(&mut output, "message")?.unwrap_or_default();
        fields::any(&mut message, "role");
        for (at, part) in fields::list(&mut message, "content")?
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            read_block(fields::as_object("content[]", part)?, at as u64, parsed)?;
        }
        read_end(object, parsed)?;
        read_usage(object, parsed);
        parsed.ends = true;
        parsed.left("output.message", message);
        return Ok(());
    }
    if fields::object(object, "messageStart")?.is_some() {
        parsed.begins = true;
    }
    for name in ["contentBlockStart", "contentBlockDelta"] {
        if let Some(mut piece) = fields::object(object, name)? {
            let at = fields::count(&mut piece, "contentBlockIndex")?.unwrap_or(0);
            for part in ["start", "delta"] {
                let part = fields::object(&mut piece, part)?.unwrap_or_default();
                read_block(part, at, parsed)?;
            }
            parsed.left("contentBlock", piece);
        }
    }
    if let Some(mut stop) = fields::object(object, "contentBlockStop")? {
        let at = fields::count(&mut stop, "contentBlockIndex")?.unwrap_or(0);
        parsed.parts.push((0, ObjectPart::Over(at.to_string())));
    }
    if let Some(mut stop) = fields::object(object, "messageStop")? {
        read_end(&mut stop, parsed)?;
        parsed.left("messageStop", stop);
    }
    if let Some(mut metadata) = fields::object(object, "metadata")? {
        read_usage(&mut metadata, parsed);
        parsed.ends = true;
        parsed.left("metadata", metadata);
    }
    Ok(())
}

fn read_end(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let reason = fields::string(object, "stopReason")?;
    parsed.event(0, finish_event(reason.map(|reason| usual(&reason))));
    Ok(())
}

fn read_usage(object: &mut Object, parsed: &mut ObjectContent) {
    parsed.usage(object, "outputTokens");
    parsed.took = fields::any(object, "metrics").and_then(|m| m.get("latencyMs")?.as_f64());
}

/// Reads the start of a block, or a delta of a block.
fn read_block(mut block: Object, at: u64, parsed: &mut ObjectContent) -> WireResult {
    parsed.event(0, answer_event(fields::string(&mut block, "text")?));
    if let Some(mut thought) = fields::object(&mut block, "reasoningContent")? {
        let inner = fields::object(&mut thought, "reasoningText")?;
        let mut thought = inner.unwrap_or(thought);
        parsed.event(0, reasoning_event(fields::string(&mut thought, "text")?));
        parsed.left("reasoningContent", thought);
    }
    if let Some(mut call) = fields::object(&mut block, "toolUse")? {
        let arguments = fields::text_or_json(&mut call, "input");
        let piece = CallPiece {
            key: at.to_string(),
            id: fields::label(&mut call, "toolUseId"),
            name: fields::string(&mut call, "name")?,
            arguments,
            ends: true,
        };
        parsed.call(0, piece);
        parsed.left("toolUse", call);
    }
    parsed.left("content[]", block);
    Ok(())
}
