//! Responses and stream events of the Converse API of Amazon Bedrock.
//!
//! A response has `output.message` and `stopReason`. The events of `ConverseStream` have one key each (`messageStart`,
//! `contentBlockDelta`, …).
//!
//! The format: <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>.

use serde_json::Value;

use super::{Family, answer_event, finish_event, reasoning_event};
use crate::fields::{Object, ReadFields, as_object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::reasons::normalize;
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
        let mut output = object.take_object("output")?.unwrap_or_default();
        let mut message = output.take_object("message")?.unwrap_or_default();
        message.take("role");
        for (at, part) in message
            .take_list("content")?
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            read_block(as_object("content[]", part)?, at as u64, parsed)?;
        }
        read_end(object, parsed)?;
        read_usage(object, parsed);
        parsed.ends = true;
        parsed.add_rest("output.message", message);
        return Ok(());
    }
    if object.take_object("messageStart")?.is_some() {
        parsed.begins = true;
    }
    for name in ["contentBlockStart", "contentBlockDelta"] {
        if let Some(mut piece) = object.take_object(name)? {
            let at = piece.take_count("contentBlockIndex")?.unwrap_or(0);
            for part in ["start", "delta"] {
                let part = piece.take_object(part)?.unwrap_or_default();
                read_block(part, at, parsed)?;
            }
            parsed.add_rest("contentBlock", piece);
        }
    }
    if let Some(mut stop) = object.take_object("contentBlockStop")? {
        let at = stop.take_count("contentBlockIndex")?.unwrap_or(0);
        parsed.parts.push((0, ObjectPart::CallEnd(at.to_string())));
    }
    if let Some(mut stop) = object.take_object("messageStop")? {
        read_end(&mut stop, parsed)?;
        parsed.add_rest("messageStop", stop);
    }
    if let Some(mut metadata) = object.take_object("metadata")? {
        read_usage(&mut metadata, parsed);
        parsed.ends = true;
        parsed.add_rest("metadata", metadata);
    }
    Ok(())
}

fn read_end(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let reason = object.take_string("stopReason")?;
    parsed.push(0, finish_event(reason.map(|reason| normalize(&reason))));
    Ok(())
}

fn read_usage(object: &mut Object, parsed: &mut ObjectContent) {
    parsed.take_usage(object, "outputTokens");
    parsed.took = object
        .take("metrics")
        .and_then(|m| m.get("latencyMs")?.as_f64());
}

/// Reads the start of a block, or a delta of a block.
fn read_block(mut block: Object, at: u64, parsed: &mut ObjectContent) -> WireResult {
    parsed.push(0, answer_event(block.take_string("text")?));
    if let Some(mut thought) = block.take_object("reasoningContent")? {
        let inner = thought.take_object("reasoningText")?;
        let mut thought = inner.unwrap_or(thought);
        parsed.push(0, reasoning_event(thought.take_string("text")?));
        parsed.add_rest("reasoningContent", thought);
    }
    if let Some(mut call) = block.take_object("toolUse")? {
        let arguments = call.take_text("input");
        let piece = CallPiece {
            key: at.to_string(),
            id: call.take_label("toolUseId"),
            name: call.take_string("name")?,
            arguments,
            ends: true,
        };
        parsed.push_call(0, piece);
        parsed.add_rest("toolUse", call);
    }
    parsed.add_rest("content[]", block);
    Ok(())
}
