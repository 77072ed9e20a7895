//! [`CorpusRuns`]: the runs of a corpus as event lengths and labels, without text.

use std::sync::atomic::AtomicBool;

use deadloop_corpus::Transcript;
use deadloop_detect::Channel;
use deadloop_replay::budget::{Budget, Lengths, MeasuredRuns};
use deadloop_replay::{PassResult, Subject};
use deadloop_score::budget::LimitCase;
use deadloop_score::{Case, Class, Span};

/// The source name of a run without one.
const NO_SOURCE: &str = "-";

/// A replay subject that measures the lengths of the events of a transcript.
pub(super) struct LengthSubject;

impl Subject for LengthSubject {
    type Reply = Lengths;

    /// Returns a constant, since the lengths depend on no setting.
    fn fingerprint(&self) -> String {
        "lengths".to_owned()
    }

    fn compute(&self, transcript: &Transcript, _: &AtomicBool) -> PassResult<Lengths> {
        Ok(Lengths::from_transcript(transcript))
    }
}

/// The runs of a corpus, in its order. A run is a transcript with at least one turn.
#[derive(Default)]
pub(crate) struct CorpusRuns {
    /// The source of each run, as an index into `names`.
    pub(super) sources: Vec<u32>,
    /// The names of the sources, sorted.
    pub names: Vec<String>,
    /// The token counts of the runs, for the simulation of budgets.
    pub(super) measured: MeasuredRuns,
    /// The number of turns of each run and the turns of its loops, for the simulation of limits.
    pub limits: Vec<LimitCase>,
    /// The number of transcripts without a turn.
    pub turnless: u64,
}

impl CorpusRuns {
    /// Collects the runs among all transcripts. `budgets` define the token counters in use.
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
        found.measured = MeasuredRuns::new(&kept, budgets);
        found
    }
}

/// Returns the input that a run gives to the simulation of turn limits.
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
            .unwrap_or_else(|| NO_SOURCE.into())
            .into(),
    }
}

/// Returns the first and the last turn of a loop, counted from 0. A turn begins before its calls, so the turn of the
/// first call after the loop is not part of the loop.
fn loop_turns(span: &Span, case: &Case) -> (u64, u64) {
    let (onset, end) = (span.onset.count(), span.end.count());
    if span.channel == Channel::Turns {
        return (onset, end.max(onset));
    }
    let from = span.seen.turns.0.saturating_sub(1);
    let last = case.timeline.before(span.channel, end.saturating_sub(1));
    (from, last.turns.0.max(from))
}
