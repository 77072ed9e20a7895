//! The runs of a corpus without their texts: how long the events of each are, and what its labels say.

use std::sync::atomic::AtomicBool;

use deadloop_corpus::Transcript;
use deadloop_detect::Channel;
use deadloop_replay::budget::{Budget, Field, Lengths};
use deadloop_replay::{Interrupted, Subject};
use deadloop_score::budget::LimitCase;
use deadloop_score::{Case, Class, Span};

/// The name for a run that has no source.
const NONE: &str = "-";

/// The lengths of a transcript's events: budgets are played on these alone.
pub(super) struct Measured;

impl Subject for Measured {
    type Said = Lengths;

    /// No setting is in it: what is measured is the same for all.
    fn fingerprint(&self) -> String {
        "lengths".to_owned()
    }

    fn say(&self, transcript: &Transcript, _: &AtomicBool) -> Result<Lengths, Interrupted> {
        Ok(Lengths::of(transcript))
    }
}

/// The runs of a corpus, each under its number: the transcripts that have a turn.
#[derive(Default)]
pub struct Runs {
    /// Their sources, as numbers of `names`.
    pub(super) sources: Vec<u32>,
    /// The sources, in order.
    pub names: Vec<String>,
    /// What settings are played on.
    pub(super) field: Field,
    /// Their turns, as limits see them.
    pub limits: Vec<LimitCase>,
    /// Transcripts without a turn.
    pub turnless: u64,
}

impl Runs {
    /// The runs among all transcripts; `budgets` name the counters.
    pub(super) fn of(cases: &[Case], lengths: Vec<Lengths>, budgets: &[Budget]) -> Self {
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
        found.field = Field::of(&kept, budgets);
        found
    }
}

/// A run as limits on its turns see it.
fn limit_case(lengths: &Lengths, case: &Case) -> LimitCase {
    let spans = case.truth.iter().flat_map(|truth| &truth.spans);
    let loops = spans.filter(|span| span.class == Class::Loop);
    let stuck = loops.map(|span| stuck(span, case));
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

/// The turns in which a loop stands, from and to, from 0. A turn begins before its calls: that of the call behind the
/// loop is no part of it.
fn stuck(span: &Span, case: &Case) -> (u64, u64) {
    let (onset, end) = (span.onset.count(), span.end.count());
    if span.channel == Channel::Turns {
        return (onset, end.max(onset));
    }
    let from = span.seen.turns.0.saturating_sub(1);
    let last = case.timeline.before(span.channel, end.saturating_sub(1));
    (from, last.turns.0.max(from))
}
