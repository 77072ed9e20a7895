//! The transcripts that a report opens, grouped by the kind of error.
//!
//! | file | content |
//! |---|---|
//! | `drill/transcript_panel.rs` | one transcript: its strip, the alarm of every setting, the command that explains it |
//! | `drill/calls.rs` | the calls of a run: a strip with equal calls in equal tint, a list with collapsed results |
//! | `drill/text.rs` | the text with its copies in two tints, and redaction |

mod calls;
mod text;
mod transcript_panel;

use crate::data::{OutcomeRow, ReportData};
use crate::numbers::count;
use deadloop_score::Group;
use serde::Serialize;
use std::collections::BTreeMap;
pub(crate) use text::redact;
use transcript_panel::TranscriptPanel;

/// The opened transcripts of one group, prepared for the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OpenedGroup {
    /// The name of the group: `false-alarm`, `miss`, `late-hit`, `fired`.
    name: &'static str,
    title: &'static str,
    note: String,
    opened: Vec<TranscriptPanel>,
}

/// Returns the groups that have an opened transcript.
pub(crate) fn open_groups(data: &ReportData) -> Vec<OpenedGroup> {
    let Some((head, opened)) = &data.opened else {
        return Vec::new();
    };
    let mut rows: BTreeMap<&str, Vec<&OutcomeRow>> = opened
        .iter()
        .map(|one| (one.transcript.as_str(), Vec::new()))
        .collect();
    for row in data.outcomes.iter() {
        if let Some(list) = rows.get_mut(&*row.transcript) {
            list.push(row);
        }
    }
    let open_group = |group: Group| {
        let opened: Vec<TranscriptPanel> = opened
            .iter()
            .filter(|one| one.group == group)
            .filter_map(|one| TranscriptPanel::new(data, one, rows.get(one.transcript.as_str())?))
            .collect();
        let (name, title, reading) = group_texts(group);
        let all = head.all.get(&group).copied().unwrap_or(0);
        let shown = opened.len() as u64;
        let rest = match all.saturating_sub(shown) {
            0 => format!("All {} are here.", count(all)),
            rest => format!(
                "The {} worst of {} are here; the other {} are in outcomes.parquet.",
                count(shown),
                count(all),
                count(rest)
            ),
        };
        // The advice of a choice has the sentence.
        let is_new = group == Group::FalseAlarm && data.advice.is_none();
        let disputed = head.disputed(data.run.unit).filter(|_| is_new);
        let disputed = disputed.map_or(String::new(), |many| format!(" {many}"));
        (!opened.is_empty()).then_some(OpenedGroup {
            name,
            title,
            note: format!("{reading} {rest}{disputed}"),
            opened,
        })
    };
    Group::ALL.into_iter().filter_map(open_group).collect()
}

/// Returns a sentence about the texts that were left out. `None` if none were.
pub(crate) fn texts_note(data: &ReportData) -> Option<String> {
    let (head, _) = data.opened.as_ref()?;
    match (head.texts, head.without_text) {
        (false, _) => {
            Some("The run was told to keep no text of the transcripts (--no-excerpts).".into())
        }
        (true, 0) => None,
        (true, n) => Some(format!(
            "The text of {} of them was left out to bound the size of this page.",
            count(n)
        )),
    }
}

/// Returns the name of a group, its title and its explanation.
fn group_texts(group: Group) -> (&'static str, &'static str, &'static str) {
    match group {
        Group::FalseAlarm => (
            "false-alarm",
            "Wrong alarms",
            "Healthy text that was cut, the most of it first.",
        ),
        Group::Miss => (
            "miss",
            "Worst misses",
            "Loops that were not stopped in time, those that ran on the longest first.",
        ),
        Group::LateHit => (
            "late-hit",
            "Latest hits",
            "Loops that were found, the slowest first.",
        ),
        Group::Fired => (
            "fired",
            "What would have fired",
            "Transcripts without a label that would have been cut; whether rightly, only a label can tell.",
        ),
    }
}
