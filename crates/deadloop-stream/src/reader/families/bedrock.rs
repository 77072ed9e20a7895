//! The Converse API of Amazon Bedrock.
//!
//! A response has `output.message` and `stopReason`. The events of `ConverseStream` have one key each (`messageStart`,
//! `contentBlockDelta`, …).
//!
//! The format: <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>.

use serde_json::Value;

use super::{Family, answer, finish, reasoning};
use crate::fields::{self, Object};
use crate::reader::content::{CallPiece, ObjectContent, ObjectPart};
use crate::reasons::usual;
use crate::wire::WireFault;

/// The stream events that hold text or mark the stream's progress.
const EVENTS: [&str; 5] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
];

/// Converse's responses and events.
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
    tags: true,
    run: false,
    knows: |object| is_whole_response(object) || event(object) || metadata(object),
    check: None,
    read,
    quick: None,
};

/// Returns whether the object is a response that is not streamed.
fn is_whole_response(object: &Object) -> bool {
    let message = object
        .get("output")
        .and_then(|output| output.get("message"));
    object.contains_key("stopReason") && message.is_some_and(Value::is_object)
}

fn event(object: &Object) -> bool {
    let known = |name: &&str| object.get(*name).is_some_and(Value::is_object);
    object.len() <= 2 && EVENTS.iter().any(known)
}

/// Returns whether the object is the last event of a stream.
fn metadata(object: &Object) -> bool {
    let metadata = object.get("metadata");
    object.len() == 1 && metadata.is_some_and(|metadata| metadata.get("usage").is_some())
}

fn read(mut object: Object) -> Result<ObjectContent, WireFault> {
    let mut said = ObjectContent::default();
    if is_whole_response(&object) {
        said.begins = true;
        let mut output = fields::object(&mut object, "output")?.unwrap_or_default();
        let mut message = fields::object(&mut output, "message")?.unwrap_or_default();
        fields::any(&mut message, "role");
        for (at, part) in fields::list(&mut message, "content")?
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            block(fields::as_object("content[]", part)?, at as u64, &mut said)?;
        }
        read_end(&mut object, &mut said)?;
        usage(&mut object, &mut said);
        said.ends = true;
        said.left("output.message", message);
        said.left("", object);
        return Ok(said);
    }
    if fields::object(&mut object, "messageStart")?.is_some() {
        said.begins = true;
    }
    for name in ["contentBlockStart", "contentBlockDelta"] {
        if let Some(mut piece) = fields::object(&mut object, name)? {
            let at = fields::count(&mut piece, "contentBlockIndex")?.unwrap_or(0);
            for part in ["start", "delta"] {
                let part = fields::object(&mut piece, part)?.unwrap_or_default();
                block(part, at, &mut said)?;
            }
            said.left("contentBlock", piece);
        }
    }
    if let Some(mut stop) = fields::object(&mut object, "contentBlockStop")? {
        let at = fields::count(&mut stop, "contentBlockIndex")?.unwrap_or(0);
        said.parts.push((0, ObjectPart::Over(at.to_string())));
    }
    if let Some(mut stop) = fields::object(&mut object, "messageStop")? {
        read_end(&mut stop, &mut said)?;
        said.left("messageStop", stop);
    }
    if let Some(mut metadata) = fields::object(&mut object, "metadata")? {
        usage(&mut metadata, &mut said);
        said.ends = true;
        said.left("metadata", metadata);
    }
    said.left("", object);
    Ok(said)
}

fn read_end(object: &mut Object, said: &mut ObjectContent) -> Result<(), WireFault> {
    let reason = fields::string(object, "stopReason")?;
    said.event(0, finish(reason.map(|reason| usual(&reason))));
    Ok(())
}

fn usage(object: &mut Object, said: &mut ObjectContent) {
    said.usage(object, "outputTokens");
    said.took = fields::any(object, "metrics").and_then(|m| m.get("latencyMs")?.as_f64());
}

/// Reads the start of a block, or a delta of one.
fn block(mut block: Object, at: u64, said: &mut ObjectContent) -> Result<(), WireFault> {
    let text = fields::string(&mut block, "text")?;
    said.event(0, answer(text));
    if let Some(mut thought) = fields::object(&mut block, "reasoningContent")? {
        let inner = fields::object(&mut thought, "reasoningText")?;
        let mut thought = inner.unwrap_or(thought);
        let text = fields::string(&mut thought, "text")?;
        said.event(0, reasoning(text));
        said.left("reasoningContent", thought);
    }
    if let Some(mut call) = fields::object(&mut block, "toolUse")? {
        let input = match fields::any(&mut call, "input") {
            Some(Value::String(piece)) => piece,
            Some(input) => input.to_string(),
            None => String::new(),
        };
        let made = CallPiece {
            key: at.to_string(),
            id: fields::label(&mut call, "toolUseId"),
            name: fields::string(&mut call, "name")?,
            arguments: input,
            ends: true,
        };
        said.parts.push((0, ObjectPart::Call(made)));
        said.left("toolUse", call);
    }
    said.left("content[]", block);
    Ok(())
}
