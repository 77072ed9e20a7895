//! The runs of a corpus without their texts: event lengths and labels.

use std::sync::atomic::AtomicBool;

use deadloop_corpus::Transcript;
use deadloop_detect::Channel;
use deadloop_replay::budget::{Budget, Lengths, MeasuredRuns};
use deadloop_replay::{Interruption, Subject};
use deadloop_score::budget::LimitCase;
use deadloop_score::{Case, Class, Span};

/// The name for a run that has no source.
const NONE: &str = "-";

/// The subject that measures the events of a transcript. Budgets are simulated on these lengths.
pub(super) struct LengthSubject;

impl Subject for LengthSubject {
    type Reply = Lengths;

    /// Returns a constant: the lengths are the same for every setting.
    fn fingerprint(&self) -> String {
        "lengths".to_owned()
    }

    fn compute(&self, transcript: &Transcript, _: &AtomicBool) -> Result<Lengths, Interruption> {
        Ok(Lengths::from_transcript(transcript))
    }
}

/// The runs of a corpus: the transcripts that have a turn, in corpus order.
#[derive(Default)]
pub(crate) struct CorpusRuns {
    /// The source of each run, as an index of `names`.
    pub(super) sources: Vec<u32>,
    /// The names of the sources, in order.
    pub names: Vec<String>,
    /// The lengths of the runs, on which settings are simulated.
    pub(super) field: MeasuredRuns,
    /// The turns of each run, as input of limits.
    pub limits: Vec<LimitCase>,
    /// The number of transcripts without a turn.
    pub turnless: u64,
}

impl CorpusRuns {
    /// Collects the runs among all transcripts. `budgets` name the token counters.
    pub(super) fn new(cases: &[Case], lengths: Vec<Lengths>, budgets: &[Budget]) -> Self {
        let mut found = Self::default();
        let mut kept = Vec::new();
        for (case, lengths) in cases.iter().zip(lengths) {
            if lengths.prompts().is_empty() {
                found.turnless += 1;
                continue;
            }
            found.limits.push(limit_case(&lengths, case));
            kept.push(lengths);
        }
        let sources = found.limits.iter().map(|case| case.source.to_string());
        found.names = sources.collect();
        found.names.sort_unstable();
        found.names.dedup();
        let number = |case: &LimitCase| {
            let at = found.names.iter().position(|name| **name == *case.source);
            at.unwrap_or(0) as u32
        };
        found.sources = found.limits.iter().map(number).collect();
        found.field = MeasuredRuns::new(&kept, budgets);
        found
    }
}

/// Returns a run as the input of limits on turns.
fn limit_case(lengths: &Lengths, case: &Case) -> LimitCase {
    let spans = case.truth.iter().flat_map(|truth| &truth.spans);
    let loops = spans.filter(|span| span.class == Class::Loop);
    let stuck = loops.map(|span| loop_turns(span, case));
    let known = case.class().is_some_and(|class| class != Class::Unsure);
    LimitCase {
        turns: lengths.prompts().len() as u64,
        stuck: stuck.collect(),
        labelled: known,
        source: case
            .by
            .first()
            .cloned()
            .flatten()
            .unwrap_or_else(|| NONE.into())
            .into(),
    }
}

/// Returns the first and the last turn of a loop, from 0. A turn begins before its calls, so the turn of the first call
/// after the loop is not part of the loop.
fn loop_turns(span: &Span, case: &Case) -> (u64, u64) {
    let (onset, end) = (span.onset.count(), span.end.count());
    if span.channel == Channel::Turns {
        return (onset, end.max(onset));
    }
    let from = span.seen.turns.0.saturating_sub(1);
    let last = case.timeline.before(span.channel, end.saturating_sub(1));
    (from, last.turns.0.max(from))
}
