//! Conversations in the data model of a service with `turns`.
//!
//! A conversation is `{id, turns: [{request, response, toolCalls, toolCallResults, metadata}]}`. A turn of this service
//! is everything after a user message. Here the calls are one turn, and the answer after their results is the next.

use serde_json::Value;

use crate::reader::{Output, known_entry};
use crate::sessions::conversation::{Conversation, take_call};
use crate::sessions::spans::to_text;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object};
use deadloop_stream::wire::WireResult;

known_entry! { @read_conversation = is_turn_log, "turn-log", "conversations of turns with request, response, toolCalls, toolCallResults"; }

fn is_turn_log(object: &Object) -> bool {
    let turn = |turn: &Value| turn.get("request").is_some() && turn.get("response").is_some();
    let turns = object.get("turns").and_then(Value::as_array);
    turns.is_some_and(|turns| turns.iter().take(4).any(turn))
}

fn read_conversation(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let mut run = Conversation::default();
    for turn in object.require_list("turns", "a list of turns")? {
        let turn = as_object("turns[]", turn)?;
        add_exchange(&mut run, turn, out)?;
    }
    let id = object.take_label("id");
    let mut entry = run.into_entry(place);
    entry.transcript.id = id.unwrap_or_default();
    out.losses.add_fields("", &object);
    out.emit(entry);
    Ok(())
}

/// Adds a user message, and the calls, results and answer after it.
fn add_exchange(run: &mut Conversation, mut turn: Object, out: &mut Output) -> WireResult {
    let mut request = turn.take_object("request")?.unwrap_or_default();
    let question = request.take_string("message")?;
    run.add_user(question.unwrap_or_default(), None);
    let mut results = turn.take_object("toolCallResults")?.unwrap_or_default();
    let mut calls = Vec::new();
    for call in turn.take_list("toolCalls")?.unwrap_or_default() {
        let mut call = as_object("toolCalls[]", call)?;
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
    let mut response = turn.take_object("response")?.unwrap_or_default();
    let text = response.take_string("message")?.unwrap_or_default();
    run.add_answer(text, None, out);
    // The metadata may have a summary of earlier turns.
    if let Some(metadata) = turn.take("metadata")
        && let Some(event) = run.last_turn_mut()
    {
        event.rest.insert("metadata".to_owned(), metadata);
    }
    turn.take("id");
    out.losses.add_fields("turns[].request", &request);
    out.losses.add_fields("turns[].response", &response);
    out.losses.add_fields("turns[]", &turn);
    Ok(())
}
