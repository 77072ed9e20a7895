//! One transcript through every setting of a [`Plan`]: measure once, decide everywhere.
//!
//! The engine reads a [`Transcript`], which has no label in it, and a fact knows nothing of what
//! comes after it: neither the truth nor the future can reach a number from here.

use std::num::NonZeroU64;

use deadloop_corpus::Transcript;
use deadloop_detect::{Channel, Fact, Recipe};

use crate::arrivals::Arrivals;
use crate::plan::{Block, Plan};
use crate::record::{Decided, Record, Region, Stop};
use crate::regions::{Span, Unclaimed};

/// Replays one transcript through every setting of a plan. `chunks`: as if its text had come in
/// chunks of so many chars, whatever was recorded.
///
/// Each distinct meter of the plan reads its channel once; memory is that of the transcript and of
/// the facts that are seen in it.
pub fn decide(plan: &Plan, transcript: &Transcript, chunks: Option<NonZeroU64>) -> Record {
    let arrivals = Arrivals::of(transcript, chunks);
    let facts = measure(plan, &arrivals);
    let blocks = plan
        .blocks()
        .iter()
        .map(|block| decide_block(block, &transcript.model, &facts, &arrivals));
    Record {
        transcript: transcript.id.clone(),
        blocks: blocks.collect(),
    }
}

/// The facts of each meter.
fn measure(plan: &Plan, arrivals: &Arrivals<'_>) -> Vec<Vec<Fact>> {
    let texts = Channel::TEXT.map(|channel| (channel, arrivals.text(channel)));
    let run = |(channel, recipe): &(Channel, Recipe)| {
        let mut facts = Vec::new();
        if let Some((_, text)) = texts.iter().find(|(c, _)| c == channel) {
            recipe.meter().push(text, &mut facts);
        }
        facts
    };
    plan.meters().iter().map(run).collect()
}

/// A fact that some cell of the block accepts, and which cells.
struct Candidate {
    /// Chars of all text channels that had arrived, then the member: the order in which a live
    /// guard meets facts. The sort is stable, so facts of one meter stay in its order.
    order: (u64, usize),
    span: Span,
    stop: Stop,
}

fn decide_block(
    block: &Block,
    model: &str,
    facts: &[Vec<Fact>],
    arrivals: &Arrivals<'_>,
) -> Decided {
    let (guard, sources) = block.watching(model);
    let mut candidates = Vec::new();
    for source in sources {
        let rule = guard.members[source.member].rule();
        for fact in &facts[source.meter] {
            let varies = |bound| is_axis(block, source.member, bound);
            if !rule.accepts_but_for(fact, varies) {
                continue;
            }
            if let Some(span) = Span::accepting(block, source.member, &fact.bounds) {
                let stop = stop(arrivals, source.channel, source.member, fact);
                let seen = stop.exact.seen;
                let order = (seen.reasoning.0 + seen.answer.0, source.member);
                candidates.push(Candidate { order, span, stop });
            }
        }
    }
    candidates.sort_by_key(|candidate| candidate.order);
    claim(block, candidates)
}

fn is_axis(block: &Block, member: usize, bound: usize) -> bool {
    block
        .axes()
        .iter()
        .any(|axis| axis.member == member && axis.bound == bound)
}

fn claim(block: &Block, candidates: Vec<Candidate>) -> Decided {
    let mut decided = Decided::default();
    let mut unclaimed = Unclaimed::new(block);
    for candidate in candidates {
        if unclaimed.is_empty() {
            break;
        }
        let claimed = unclaimed.claim(&candidate.span);
        if claimed.is_empty() {
            continue;
        }
        if decided.stops.last() != Some(&candidate.stop) {
            decided.stops.push(candidate.stop);
        }
        let stop = decided.stops.len() - 1;
        let region = |span: Span| Region {
            lo: span.lo,
            hi: span.hi,
            stop,
        };
        decided.regions.extend(claimed.into_iter().map(region));
    }
    decided
}

fn stop(arrivals: &Arrivals<'_>, channel: Channel, member: usize, fact: &Fact) -> Stop {
    let delivered = arrivals.delivered(channel, fact.at);
    Stop {
        channel,
        kind: fact.kind,
        member,
        exact: arrivals.moment(channel, fact.at),
        delivered: arrivals.moment(channel, delivered),
    }
}
