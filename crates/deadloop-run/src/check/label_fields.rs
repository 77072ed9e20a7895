//! The check for unknown fields of labels inside transcripts.

use deadloop_score::LABEL_COLUMNS;
use serde_json::Value;

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "label-fields",
    severity: Severity::Note,
    title: "unknown fields of labels",
    why: "they are kept but not read, so a misspelt `earliest` or `end` has no effect",
    advice: CheckAdvice::Plain("correct the misspelt ones; fields for other tools can stay"),
    find: CheckFn::Text(find_unknown_field),
};

fn find_unknown_field(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let labels = checked_text.entry.labels.as_ref()?.as_array()?.iter();
    let mut names = labels
        .filter_map(Value::as_object)
        .flat_map(|label| label.keys());
    let name = names.find(|name| !LABEL_COLUMNS.contains(&name.as_str()))?;
    Some(format!("the field {name:?} of a label"))
}
