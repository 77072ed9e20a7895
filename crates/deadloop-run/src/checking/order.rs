//! Messages of a run that are not in the order that chat APIs require.

use deadloop_corpus::disorders;

use super::{CorpusCheck, Exhibit, Find, Severity};
use crate::words;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "message-order",
    severity: Severity::Note,
    title: "runs whose messages stand in another order than chat APIs ask for",
    why: "after a turn with calls come the results of its calls, every result has its call, and no turn is empty: a run that is otherwise cannot be sent again as it stands, and guards on results see less than there was",
    advice: "look at the events that are named; a converter that loses or moves results is mended at its source",
    find: Find::Text(order),
};

fn order(exhibit: &Exhibit<'_>) -> Option<String> {
    let found = disorders(&exhibit.entry.transcript);
    let found: Vec<_> = found
        .into_iter()
        .filter(|one| !one.kind.is_strict())
        .collect();
    let first = found.first()?;
    let what = format!("event {}: {}", first.event, first.kind.words());
    Some(match found.len() {
        1 => what,
        n => format!("{what}; {} more", words::count(n as u64 - 1)),
    })
}
