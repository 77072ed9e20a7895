//! One transcript through every setting of a [`Plan`]: measure once, decide everywhere.
//!
//! The engine reads a [`Transcript`], which has no label in it, and a fact knows nothing of what
//! comes after it: neither the truth nor the future can reach a number from here.

use std::num::NonZeroU64;

use deadloop_corpus::Transcript;
use deadloop_detect::{Bound, Channel, Chars, Fact, Kind};

use crate::arrivals::Arrivals;
use crate::block::{Axis, Block};
use crate::plan::Plan;
use crate::program::Said;
use crate::readings::Reading;
use crate::record::{Decided, Record, Region, Stop};
use crate::regions::{Claimed, Span};

/// Replays one transcript through every setting of a plan. `chunks`: as if its text had come in
/// chunks of so many chars, whatever was recorded.
///
/// Each distinct meter of the plan reads its channel once; memory is that of the transcript and of
/// the facts that are seen in it. A setting with a program is an error here:
/// [`Programs::decide`](crate::Programs::decide) asks them.
pub fn decide(plan: &Plan, transcript: &Transcript, chunks: Option<NonZeroU64>) -> Record {
    decide_with(plan, transcript, chunks, &[])
}

/// The same with what the plan's programs say about the transcript, in their order.
pub(crate) fn decide_with(
    plan: &Plan,
    transcript: &Transcript,
    chunks: Option<NonZeroU64>,
    said: &[Said],
) -> Record {
    let arrivals = Arrivals::of(transcript, chunks);
    let measured = Measured {
        facts: measure(plan, &arrivals),
        said,
        arrivals,
    };
    let blocks = plan
        .blocks()
        .iter()
        .map(|block| decide_block(block, &transcript.model, &measured));
    Record {
        transcript: transcript.id.as_str().into(),
        blocks: blocks.collect(),
    }
}

/// All that is known of a transcript before any setting is asked.
struct Measured<'a> {
    /// Of each meter of the plan.
    facts: Vec<Vec<Fact>>,
    /// By each program of the plan.
    said: &'a [Said],
    arrivals: Arrivals<'a>,
}

/// The facts of each meter.
fn measure(plan: &Plan, arrivals: &Arrivals<'_>) -> Vec<Vec<Fact>> {
    let texts = Channel::TEXT.map(|channel| (channel, arrivals.text(channel)));
    let run = |reading: &Reading| {
        let text = texts.iter().find(|(c, _)| *c == reading.channel);
        text.map_or_else(Vec::new, |(_, text)| reading.facts(text))
    };
    plan.readings().meters().iter().map(run).collect()
}

/// A step at which some cells of the block begin to accept a fact, and which.
struct Candidate {
    /// Chars of all text channels that had arrived, then the member: the order in which a live
    /// guard meets facts. The sort is stable, so facts of one meter stay in its order.
    order: (u64, usize),
    span: Span,
    stop: Stop,
}

impl Candidate {
    fn new(span: Span, stop: Stop) -> Self {
        let seen = stop.exact.seen;
        Self {
            order: (seen.reasoning.0 + seen.answer.0, stop.member),
            span,
            stop,
        }
    }
}

fn decide_block(block: &Block, model: &str, measured: &Measured<'_>) -> Decided {
    let mut candidates = from_facts(block, model, measured);
    match from_programs(block, model, measured) {
        Ok(said) => candidates.extend(said),
        Err(error) => {
            return Decided {
                error: Some(error),
                ..Decided::default()
            };
        }
    }
    candidates.sort_by_key(|candidate| candidate.order);
    claim(block, candidates)
}

fn from_facts(block: &Block, model: &str, measured: &Measured<'_>) -> Vec<Candidate> {
    let (guard, sources) = block.watching(model);
    let mut candidates = Vec::new();
    for source in &sources.facts {
        let rule = guard.members[source.member].rule();
        for fact in &measured.facts[source.meter] {
            let varies = |bound| axis(block, source.member, bound).is_some();
            let Some(first) = rule.alarm_but_for(fact, varies) else {
                continue;
            };
            for step in steps(block, source.member, fact, first) {
                if let Some(span) = Span::accepting(block, source.member, fact, step) {
                    let what = (fact.kind, fact.position(step));
                    let stop = stop(&measured.arrivals, source.channel, source.member, what);
                    candidates.push(Candidate::new(span, stop));
                }
            }
        }
    }
    candidates
}

/// A program has no thresholds: what it says holds for every cell. The first that failed is the
/// block's error.
fn from_programs(
    block: &Block,
    model: &str,
    measured: &Measured<'_>,
) -> Result<Vec<Candidate>, String> {
    let (_, sources) = block.watching(model);
    let mut candidates = Vec::new();
    for (member, program) in &sources.programs {
        let said = measured.said.get(*program);
        let alarm = said.ok_or("its program does not run")?.as_ref()?;
        if let Some(heard) = alarm {
            let what = (heard.kind, heard.at);
            let stop = stop(&measured.arrivals, heard.channel, *member, what);
            candidates.push(Candidate::new(Span::all(block), stop));
        }
    }
    Ok(candidates)
}

fn axis(block: &Block, member: usize, bound: usize) -> Option<&Axis> {
    let mut axes = block.axes().iter();
    axes.find(|axis| axis.member == member && axis.bound == bound)
}

/// The steps from `first` on at which some cell begins to accept a fact: `first` itself, and where
/// a growing bound reaches another value of its axis.
fn steps(block: &Block, member: usize, fact: &Fact, first: u64) -> Vec<u64> {
    let mut steps = vec![first];
    for (i, bound) in fact.bounds.iter().enumerate() {
        if let (Some(axis), Bound::Steps { .. } | Bound::Whole { .. } | Bound::Chars { .. }) =
            (axis(block, member, i), bound)
        {
            let reached = |number: &i64| fact.accepted(axis.threshold, *number, *bound);
            let later = axis.numbers().iter().filter_map(reached);
            steps.extend(later.filter(|step| *step > first));
        }
    }
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn claim(block: &Block, candidates: Vec<Candidate>) -> Decided {
    let mut decided = Decided::default();
    let mut all = Claimed::new(block);
    for candidate in candidates {
        if all.is_whole() {
            break;
        }
        let claimed = all.claim(candidate.span);
        if claimed.is_empty() {
            continue;
        }
        if decided.stops.last() != Some(&candidate.stop) {
            decided.stops.push(candidate.stop);
        }
        let stop = decided.stops.len() - 1;
        let region = |span: Span| Region {
            lo: span.lo.into_vec(),
            hi: span.hi.into_vec(),
            stop,
        };
        decided.regions.extend(claimed.into_iter().map(region));
    }
    // A hundred thousand of these are kept.
    decided.stops.shrink_to_fit();
    decided.regions.shrink_to_fit();
    decided
}

fn stop(
    arrivals: &Arrivals<'_>,
    channel: Channel,
    member: usize,
    (kind, at): (Kind, Chars),
) -> Stop {
    Stop {
        channel,
        kind,
        member,
        exact: arrivals.moment(channel, at),
        delivered: arrivals.moment(channel, arrivals.delivered(channel, at)),
    }
}
