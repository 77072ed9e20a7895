//! Harmless repetition: polls, batches, checks after changes, and retries.

use deadloop_corpus::{BenignReason, BenignSpan};

use super::news::{CallNews, JudgedCall};
use super::step::RunStep;

/// Returns a stretch of calls.
pub(super) fn stretch(reason: BenignReason, from: usize, to: usize) -> BenignSpan {
    BenignSpan {
        reason,
        start: from as u64,
        end: to as u64,
    }
}

/// The minimum number of calls of a batch.
const BATCH: usize = 5;
/// The minimum number of repetitions of a question.
const TIMES: usize = 3;

/// Returns all harmless repetition, in no order.
pub(super) fn benign(steps: &[RunStep], judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = batches(steps, judged);
    found.extend(rows(steps));
    found.extend(polls(judged));
    found.extend(find_verification(judged));
    found
}

/// Finds batches: successive calls of one tool other than a shell. Each call after the first brought something new.
fn batches(steps: &[RunStep], judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 0..=steps.len() {
        let goes_on = at > from
            && at < steps.len()
            && steps[at].tool == steps[from].tool
            && !steps[at].shell
            && judged[at].news == CallNews::New;
        if goes_on {
            continue;
        }
        if at - from >= BATCH {
            found.push(stretch(BenignReason::Batch, from, at));
        }
        from = at;
    }
    found
}

/// Finds rows of equal calls. A row with changing answers is a poll. A row of errors with a success at the end is a
/// retry.
fn rows(steps: &[RunStep]) -> Vec<BenignSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=steps.len() {
        if at < steps.len() && steps[at].call == steps[from].call {
            continue;
        }
        let row = &steps[from..at];
        let changes = row
            .windows(2)
            .filter(|two| two[0].result != two[1].result)
            .count();
        let works = row
            .last()
            .is_some_and(|last| !last.error && last.result.is_some());
        if row.len() > 1 && works && row[..row.len() - 1].iter().all(|step| step.error) {
            found.push(stretch(BenignReason::Retry, from, at));
        } else if row.len() >= TIMES && 2 * changes >= row.len() - 1 {
            found.push(stretch(BenignReason::Poll, from, at));
        }
        from = at;
    }
    found
}

/// Finds polls that say the same until they end.
fn polls(judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    for row in judged.chunk_by(|a, b| a.news == b.news) {
        if row[0].news == CallNews::Wait && row.len() >= TIMES {
            found.push(stretch(BenignReason::Poll, from, from + row.len()));
        }
        from += row.len();
    }
    found
}

/// Finds questions repeated after changes. Between them, every repeated answer must follow a change.
fn find_verification(judged: &[JudgedCall]) -> Option<BenignSpan> {
    let again = |judged: &JudgedCall| judged.news == CallNews::Again;
    let times = judged.iter().filter(|judged| again(judged)).count();
    let first = judged.iter().find(|judged| again(judged))?.before?;
    let last = judged.iter().rposition(again)?;
    (times >= TIMES).then(|| stretch(BenignReason::Verify, first, last + 1))
}
