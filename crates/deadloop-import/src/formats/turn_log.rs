//! Conversations in the data model of a service with `turns`.
//!
//! A conversation is `{id, turns: [{request, response, toolCalls, toolCallResults, metadata}]}`. A turn of this service
//! is everything after a user message. Here the calls are one turn, and the answer after their results is the next.

use serde_json::Value;

use crate::reader::{Intake, known_entry};
use crate::sessions::conversation::{Conversation, take_call};
use crate::sessions::spans::to_text;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, tool_result};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::wire::WireResult;

known_entry! { @read_conversation = is_turn_log, "turn-log", "conversations of turns with request, response, toolCalls, toolCallResults"; }

fn is_turn_log(object: &Object) -> bool {
    let turn = |turn: &Value| turn.get("request").is_some() && turn.get("response").is_some();
    let turns = object.get("turns").and_then(Value::as_array);
    turns.is_some_and(|turns| turns.iter().take(4).any(turn))
}

fn read_conversation(record: SourceRecord, out: &mut Intake) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let mut run = Conversation::default();
    for turn in fields::need_list(&mut object, "turns", "a list of turns")? {
        let turn = fields::as_object("turns[]", turn)?;
        add_exchange(&mut run, turn, out)?;
    }
    let id = fields::label(&mut object, "id");
    let mut entry = run.into_entry(place);
    entry.transcript.id = id.unwrap_or_default();
    out.losses.add_fields("", &object);
    out.emit(entry);
    Ok(())
}

/// Adds a user message, and the calls, results and answer after it.
fn add_exchange(run: &mut Conversation, mut turn: Object, out: &mut Intake) -> WireResult {
    let mut request = fields::object(&mut turn, "request")?.unwrap_or_default();
    let question = fields::string(&mut request, "message")?;
    run.add_user(question.unwrap_or_default(), None);
    let mut results = fields::object(&mut turn, "toolCallResults")?.unwrap_or_default();
    let mut calls = Vec::new();
    for call in fields::list(&mut turn, "toolCalls")?.unwrap_or_default() {
        let mut call = fields::as_object("toolCalls[]", call)?;
        let body = take_call(&mut call)?;
        if let Body::ToolCall { id: Some(id), .. } = &body {
            calls.push(id.clone());
        }
        run.add_action(body, None);
    }
    // Results are ordered by their calls. Results without a call come last.
    let known = calls.into_iter();
    let known = known.filter_map(|id| Some((id.clone(), results.remove(&id)?)));
    let known: Vec<(String, Value)> = known.collect();
    for (id, content) in known.into_iter().chain(results) {
        run.push(tool_result(Some(id), to_text(Some(content)), None), None);
    }
    let mut response = fields::object(&mut turn, "response")?.unwrap_or_default();
    let text = fields::string(&mut response, "message")?.unwrap_or_default();
    run.add_answer(text, None, out);
    // The metadata may have a summary of earlier turns.
    if let Some(metadata) = fields::any(&mut turn, "metadata")
        && let Some(event) = run.last_turn_mut()
    {
        event.rest.insert("metadata".to_owned(), metadata);
    }
    fields::any(&mut turn, "id");
    out.losses.add_fields("turns[].request", &request);
    out.losses.add_fields("turns[].response", &response);
    out.losses.add_fields("turns[]", &turn);
    Ok(())
}
