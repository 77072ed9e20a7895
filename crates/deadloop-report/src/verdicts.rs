//! The words and signs of verdicts, as JSON for the page.
//!
//! `templates/matrix.js` reads it as `VERDICTS` from a script element that is never executed.

use crate::data::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct VerdictView {
    /// Whether healthy text was cut.
    wrong: bool,
    /// Whether the verdict is on a loop.
    looping: bool,
    /// The sign in a cell of a table.
    sign: char,
    /// The verdict in words.
    words: &'static str,
}

/// Returns the JSON, by the names of verdicts.
pub(crate) fn verdicts() -> serde_json::Result<String> {
    let told = |verdict: Verdict| {
        let (sign, words) = match verdict {
            Verdict::Hit => ('✓', "found"),
            Verdict::Premature => ('✂', "cut before the loop"),
            Verdict::Stale => ('✂', "cut after the loop"),
            Verdict::Miss => ('✗', "missed"),
            Verdict::FalseAlarm => ('✂', "healthy text cut"),
            Verdict::Quiet | Verdict::TransientPass => ('·', "left alone"),
            Verdict::TransientStop => ('~', "stopped in a repetition that ends by itself"),
            Verdict::Unlabelled => ('·', "not cut, no label"),
            Verdict::Error => ('!', "the guard failed"),
        };
        let (wrong, looping) = (verdict.is_false(), verdict.is_loop());
        let told = VerdictView {
            wrong,
            looping,
            sign,
            words,
        };
        (verdict.name(), told)
    };
    let all: BTreeMap<&str, VerdictView> = Verdict::ALL.into_iter().map(told).collect();
    serde_json::to_string(&all)
}
