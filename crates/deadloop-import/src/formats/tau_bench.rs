//! Results of tau-bench: a list of `{task_id, reward, info, traj, trial}`.
//!
//! Each element has the messages of a run.

use serde_json::Value;

use crate::reader::{Output, known_entry, move_field};
use crate::sessions::conversation::Conversation;
use crate::source::records::SourceRecord;
use deadloop_stream::fields::{Object, ReadFields, as_object, missing_field};
use deadloop_stream::wire::WireResult;

known_entry! { @read_result = is_tau_bench, "tau-bench", "results of tau-bench: task_id, reward, traj"; }

fn is_tau_bench(object: &Object) -> bool {
    let traj = object.get("traj").is_some_and(Value::is_array);
    object.contains_key("task_id") && (traj || object.contains_key("trial"))
}

fn read_result(record: SourceRecord, out: &mut Output) -> WireResult {
    let (place, mut object) = record.into_place_and_object()?;
    let task = object.take_label("task_id");
    let task = task.ok_or_else(|| missing_field("task_id", "the number of a task"))?;
    let trial = object.take_count("trial")?.unwrap_or(0);
    let mut run = Conversation::default();
    for message in object.require_list("traj", "a list of messages")? {
        let mut message = as_object("traj[]", message)?;
        // The tool name of a result, which its call has too.
        message.take("name");
        run.add_message(message, "traj[]", None, out)?;
    }
    let mut entry = run.into_entry(place);
    let transcript = &mut entry.transcript;
    transcript.id = format!("{}/{task}-{trial}", out.stem());
    transcript.group = Some(format!("task-{task}"));
    move_field(&mut transcript.meta, "reward", &mut object, "reward");
    out.losses.add_fields("", &object);
    out.emit(entry);
    Ok(())
}
