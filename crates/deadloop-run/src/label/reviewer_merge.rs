//! Merges the labels of two reviewers.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_score::proposals::CONFIDENCE;
use deadloop_score::{LabelRow, REVIEW};
use serde::Serialize;

use super::labellings::labels_differ;
use super::rows::main_row;

/// The author (`by`) of rows on which two reviewers disagree. Such rows count as unanswered, so the next review shows
/// them.
const DISPUTED_AUTHOR: &str = "merge";

/// The numbers of transcripts in a merge of two reviews.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MergeCounts {
    /// Transcripts reviewed by both with the same answer.
    pub same: u64,
    /// Transcripts reviewed by both with different answers. They are unreviewed in the merged file.
    pub differ: u64,
    /// Transcripts reviewed only by the first.
    pub only_first: u64,
    /// Transcripts reviewed only by the second.
    pub only_second: u64,
    /// Transcripts reviewed by neither, which keep the proposal.
    pub nobody: u64,
}

fn is_reviewed(rows: &[LabelRow]) -> bool {
    rows.iter().all(|row| row.by.starts_with(REVIEW))
}

fn group_by_transcript(rows: &[LabelRow]) -> BTreeMap<&str, Vec<LabelRow>> {
    let mut all: BTreeMap<&str, Vec<LabelRow>> = BTreeMap::new();
    for row in rows {
        all.entry(&row.transcript).or_default().push(row.clone());
    }
    all
}

/// Merges the rows of two reviewers, in the order of the first, followed by transcripts that only the second has. An
/// answer replaces a proposal. If two answers differ, the first reviewer's rows become a proposal of confidence 0, so
/// that a review shows them first.
pub(super) fn merge_rows(first: &[LabelRow], second: &[LabelRow]) -> (Vec<LabelRow>, MergeCounts) {
    let (ours, theirs) = (group_by_transcript(first), group_by_transcript(second));
    let mut seen = BTreeSet::new();
    let order = first
        .iter()
        .chain(second)
        .map(|row| row.transcript.as_str());
    let order: Vec<&str> = order.filter(|id| seen.insert(*id)).collect();
    let (mut rows, mut counts) = (Vec::new(), MergeCounts::default());
    for id in order {
        let none = Vec::new();
        let (a, b) = (
            ours.get(id).unwrap_or(&none),
            theirs.get(id).unwrap_or(&none),
        );
        let answered = |rows: &[LabelRow]| !rows.is_empty() && is_reviewed(rows);
        let merged = match (answered(a), answered(b)) {
            (true, true) if labels_differ(a, b) => {
                counts.differ += 1;
                disputed_proposal(a, b)
            }
            (true, true) => {
                counts.same += 1;
                a.clone()
            }
            (true, false) => {
                counts.only_first += 1;
                a.clone()
            }
            (false, true) => {
                counts.only_second += 1;
                b.clone()
            }
            (false, false) => {
                counts.nobody += 1;
                if a.is_empty() { b.clone() } else { a.clone() }
            }
        };
        rows.extend(merged);
    }
    (rows, counts)
}

/// Returns the first reviewer's rows as a proposal, with both answers in the note.
fn disputed_proposal(ours: &[LabelRow], theirs: &[LabelRow]) -> Vec<LabelRow> {
    let describe = |rows: &[LabelRow]| {
        main_row(rows).map_or_else(String::new, |row| {
            let at = row.onset.map(|at| format!(" at {at}")).unwrap_or_default();
            format!("{}{at} by {}", row.class.name(), row.by)
        })
    };
    let note = format!("{CONFIDENCE}0; {}, {}", describe(ours), describe(theirs));
    let row = |row: &LabelRow| LabelRow {
        by: DISPUTED_AUTHOR.into(),
        note: note.clone(),
        ..row.clone()
    };
    ours.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::session::{Key, KeyEffect, ReviewSession};
    use super::*;
    use deadloop_score::Class;

    fn row(id: &str, class: Class, by: &str) -> LabelRow {
        LabelRow {
            onset: (class == Class::Loop).then_some(50),
            ..LabelRow::new(id, class, by)
        }
    }

    #[test]
    fn an_answer_goes_before_a_proposal_and_what_differs_is_asked_again() {
        let (ann, bob) = ("review:ann", "review:bob");
        let first = [
            row("same", Class::Clean, ann),
            row("differ", Class::Loop, ann),
            row("first", Class::Unsure, ann),
            row("second", Class::Clean, "auto"),
            row("nobody", Class::Clean, "auto"),
        ];
        let second = [
            row("new", Class::Clean, bob),
            row("same", Class::Clean, bob),
            row("differ", Class::Clean, bob),
            row("first", Class::Clean, "auto"),
            row("second", Class::Loop, bob),
            row("nobody", Class::Loop, "auto"),
        ];
        let (rows, counts) = merge_rows(&first, &second);
        let expected = MergeCounts {
            same: 1,
            differ: 1,
            only_first: 1,
            only_second: 2,
            nobody: 1,
        };
        assert_eq!(counts, expected);
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.transcript.as_str(), row.class.name(), row.by.as_str()))
            .collect();
        let expected = [
            ("same", "clean", ann),
            ("differ", "loop", "merge"),
            ("first", "unsure", ann),
            ("second", "loop", bob),
            ("nobody", "clean", "auto"),
            ("new", "clean", bob),
        ];
        assert_eq!(told, expected);
        assert_eq!(
            rows[1].note,
            "confidence 0; loop at 50 by review:ann, clean by review:bob"
        );
        let mut review = ReviewSession::new(rows, "eve", None, false);
        assert_eq!(
            review.current(),
            Some("differ"),
            "the least certain comes first"
        );
        assert_eq!(review.press(Key::Accept), KeyEffect::Save);
        assert_eq!(review.current(), Some("nobody"));
    }
}
