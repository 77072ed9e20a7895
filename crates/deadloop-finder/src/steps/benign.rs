//! Finds harmless repetition: polls, batches, checks after changes, and retries.

use deadloop_corpus::{BenignReason, BenignSpan};

use super::news::{CallNews, JudgedCall};
use super::step::RunStep;

/// Returns a stretch of harmless calls, from `from` up to `to`.
pub(super) fn stretch(reason: BenignReason, from: usize, to: usize) -> BenignSpan {
    BenignSpan {
        reason,
        start: from as u64,
        end: to as u64,
    }
}

/// The minimum number of calls of a batch.
const MIN_BATCH: usize = 5;
/// The minimum number of calls of a poll, and of repeated calls of a verification.
const MIN_TIMES: usize = 3;

/// Finds all harmless repetition. The result is not sorted.
pub(super) fn find_benign(steps: &[RunStep], judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = find_batches(steps, judged);
    found.extend(find_equal_calls(steps));
    found.extend(find_polls(judged));
    found.extend(find_verification(judged));
    found
}

/// Finds batches: consecutive calls of one tool that each returned something new. Calls of a shell are no batch.
fn find_batches(steps: &[RunStep], judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 0..=steps.len() {
        let continues = at > from
            && at < steps.len()
            && steps[at].tool == steps[from].tool
            && !steps[at].shell
            && judged[at].news == CallNews::New;
        if continues {
            continue;
        }
        if at - from >= MIN_BATCH {
            found.push(stretch(BenignReason::Batch, from, at));
        }
        from = at;
    }
    found
}

/// Finds rows of equal calls. If the results change, they are a poll. If all but the last fail, they are a retry.
fn find_equal_calls(steps: &[RunStep]) -> Vec<BenignSpan> {
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
        } else if row.len() >= MIN_TIMES && 2 * changes >= row.len() - 1 {
            found.push(stretch(BenignReason::Poll, from, at));
        }
        from = at;
    }
    found
}

/// Finds polls whose result stays the same until they end.
fn find_polls(judged: &[JudgedCall]) -> Vec<BenignSpan> {
    let mut found = Vec::new();
    let mut from = 0;
    for row in judged.chunk_by(|a, b| a.news == b.news) {
        if row[0].news == CallNews::Polled && row.len() >= MIN_TIMES {
            found.push(stretch(BenignReason::Poll, from, from + row.len()));
        }
        from += row.len();
    }
    found
}

/// Finds a verification: calls repeated with the same result after changes.
fn find_verification(judged: &[JudgedCall]) -> Option<BenignSpan> {
    let rechecked = |judged: &JudgedCall| judged.news == CallNews::Rechecked;
    let times = judged.iter().filter(|judged| rechecked(judged)).count();
    let first = judged.iter().find(|judged| rechecked(judged))?.before?;
    let last = judged.iter().rposition(rechecked)?;
    (times >= MIN_TIMES).then(|| stretch(BenignReason::Verify, first, last + 1))
}
