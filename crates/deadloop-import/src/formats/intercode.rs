//! Results of InterCode: an object with a run for each number.
//!
//! A run is `{environment, query, turn_history, summary}`. The history has lists of actions, observations and rewards
//! of the same length.

use serde_json::Value;

use crate::reader::{Output, known_entry, move_field, set_field};
use crate::sessions::conversation::Conversation;
use crate::sessions::spans::to_text;
use crate::sessions::turn::TurnData;
use crate::source::records::SourceRecord;
use deadloop_corpus::{Body, Entry, Place, tool_call, tool_result};
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::wire::WireResult;

known_entry! { @read_results = is_intercode, "intercode", "results of InterCode: turn_history of actions and observations"; }

fn is_run(object: &Object) -> bool {
    let history = object.get("turn_history").and_then(Value::as_object);
    history.is_some_and(|history| history.contains_key("actions"))
}

fn is_intercode(object: &Object) -> bool {
    let mut runs = object.values().filter_map(Value::as_object).take(4);
    is_run(object) || runs.any(is_run)
}

fn read_results(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, object) = record.into_place_and_object()?;
    let several: Vec<(String, Value)> = if is_run(&object) {
        vec![(String::new(), Value::Object(object))]
    } else {
        object.into_iter().collect()
    };
    let mut found = Vec::new();
    for (number, run) in several {
        let run = as_object("a run", run)?;
        found.push(read_run(run, number, &place, out)?);
    }
    found.into_iter().for_each(|entry| out.emit(entry));
    Ok(())
}

fn read_run(mut run: Object, number: String, place: &Place, out: &mut Output) -> WireResult<Entry> {
    let history = run.take_object("turn_history")?;
    let mut history = history.ok_or_else(|| missing_field("turn_history", "a run of InterCode"))?;
    let environment = run.take_string("environment")?.unwrap_or_default();
    let tool = environment.trim_start_matches("ic_");
    let tool = if tool.is_empty() { "action" } else { tool };
    let mut events = Conversation::default();
    events.add_user(to_text(run.take("query")), None);
    let count = add_turns(&mut history, tool, &mut events)?;
    let mut summary = run.take_object("summary")?.unwrap_or_default();
    let most = summary.take_count("turns_max")?;
    let reached = most.is_some_and(|most| count >= most);
    events.finish(reached.then(|| "limit".to_owned()));
    let mut entry = events.into_entry(place.clone());
    let transcript = &mut entry.transcript;
    let task = run.take_label("task_id");
    if !number.is_empty() {
        transcript.id = format!("{}/{number}", out.stem());
    }
    transcript.group = task
        .map(|task| format!("{environment}-{task}"))
        .or(transcript.group.take());
    if transcript.meta.contains_key("args") {
        transcript.meta.insert("args".to_owned(), "text".into());
    }
    set_field(&mut transcript.meta, "env", Some(environment.into()));
    set_field(&mut transcript.meta, "max_turns", most.map(Value::from));
    move_field(&mut transcript.meta, "reward", &mut summary, "max_reward");
    out.losses.add_fields("turn_history", &history);
    out.losses.add_fields("summary", &summary);
    out.losses.add_fields("", &run);
    Ok(entry)
}

/// Adds the turns of a run, each with a thought, the call of `tool` and its result. Returns the number of turns.
fn add_turns(history: &mut Object, tool: &str, events: &mut Conversation) -> WireResult<u64> {
    let mut list = |name: &str| history.take_list(name).map(Option::unwrap_or_default);
    let actions = list("actions")?;
    let [observations, valid, thoughts] = [
        list("observations")?,
        list("valid_action")?,
        list("thoughts")?,
    ];
    let count = actions.len();
    for (at, action) in actions.into_iter().enumerate() {
        events.begin_turn(TurnData::default());
        if let Some(thought) = thoughts.get(at).and_then(Value::as_str) {
            events.push(Body::Answer(thought.to_owned()), None);
        }
        let id = Some(format!("c{at}"));
        events.push(tool_call(id.clone(), tool, to_text(Some(action))), None);
        if let Some(observation) = observations.get(at) {
            let error = valid.get(at).and_then(Value::as_bool).map(|valid| !valid);
            let content = to_text(Some(observation.clone()));
            events.push(tool_result(id, content, error), None);
        }
    }
    Ok(count as u64)
}
