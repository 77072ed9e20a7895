//! Responses of llama.cpp's own `/completion`, streamed or not.
//!
//! Its pieces have `content` and `stop`. The last piece has the stop reason (`stop_type`).
//!
//! The format: `tools/server/README.md` of llama.cpp, builds of 2025.

use serde_json::Value;

use super::{Family, answer_event, finish_event};
use crate::fields::{Object, ReadFields};
use crate::reader::content::{ObjectContent, TokenCounts};
use crate::reasons::normalize;
use crate::wire::WireResult;

/// The family of llama.cpp's `/completion`.
pub const ENTRY: Family = Family {
    name: "llama_cpp",
    keys: &["index", "content", "stop", "tokens"],
    knows: |object| {
        let content = object.get("content").is_some_and(Value::is_string);
        content && object.get("stop").is_some_and(Value::is_boolean)
    },
    read,
    ..Family::PLAIN
};

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let ends = object.take("stop") == Some(Value::Bool(true));
    parsed.model = object.take_label("model");
    parsed.ends = ends;
    let index = object.take_count("index")?.unwrap_or(0);
    parsed.push(index, answer_event(object.take_string("content")?));
    let reason = object.take_string("stop_type")?;
    let reason = reason.filter(|reason| reason != "none");
    // Older servers have a flag for each reason.
    let mut flag = |name: &str, reason: &str| {
        let set = object.take(name) == Some(Value::Bool(true));
        set.then(|| reason.to_owned())
    };
    let flags = [
        flag("stopped_limit", "length"),
        flag("stopped_eos", "stop"),
        flag("stopped_word", "stop"),
    ];
    let reason = reason.or(flags.into_iter().flatten().next());
    parsed.push(
        index,
        finish_event(reason.map(|reason| normalize(&reason)).filter(|_| ends)),
    );
    let all = object.take_count("tokens_predicted")?;
    parsed.tokens = all.filter(|_| ends).map(TokenCounts::without_reasoning);
    object.remove_fields("tokens id_slot tokens_evaluated stopping_word multimodal");
    let timings = object.take("timings");
    parsed.keep("timings", timings.filter(|_| ends));
    Ok(())
}
