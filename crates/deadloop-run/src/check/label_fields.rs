//! Fields unknown to deadloop in labels inside transcripts.

use deadloop_score::LABEL_COLUMNS;
use serde_json::Value;

use super::{CheckAdvice, CheckedTranscript, CorpusCheck, Find, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "label-fields",
    severity: Severity::Note,
    title: "unknown fields of labels",
    why: "they are kept but not read, so a misspelt `earliest` or `end` has no effect",
    advice: CheckAdvice::Plain("correct the misspelt ones; fields for other tools can stay"),
    find: Find::Text(unknown_fields),
};

fn unknown_fields(exhibit: &CheckedTranscript<'_>) -> Option<String> {
    let labels = exhibit.entry.labels.as_ref()?.as_array()?.iter();
    let mut names = labels
        .filter_map(Value::as_object)
        .flat_map(|label| label.keys());
    let name = names.find(|name| !LABEL_COLUMNS.contains(&name.as_str()))?;
    Some(format!("the field {name:?} of a label"))
}
