//! Fields unknown to deadloop in labels inside transcripts.

use deadloop_score::LABEL_COLUMNS;
use serde_json::Value;

use super::{CorpusCheck, Exhibit, Find, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "label-fields",
    severity: Severity::Note,
    title: "labels with fields that deadloop does not know",
    why: "they are kept and not read: of a misspelt `earliest` or `end` nothing is left",
    advice: "mend them where they are misspelt; what is meant for others may stay",
    find: Find::Text(unknown),
};

fn unknown(exhibit: &Exhibit<'_>) -> Option<String> {
    let labels = exhibit.entry.labels.as_ref()?.as_array()?.iter();
    let mut names = labels
        .filter_map(Value::as_object)
        .flat_map(|label| label.keys());
    let name = names.find(|name| !LABEL_COLUMNS.contains(&name.as_str()))?;
    Some(format!("the field {name:?} of a label"))
}
