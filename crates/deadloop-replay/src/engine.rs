//! Replay of a transcript through every setting of a [`Plan`].
//!
//! Each text is measured once for all settings. The engine reads a [`Transcript`], which has no label, and a fact
//! depends only on the text before it. So neither the label nor later text can affect a result.

use std::num::NonZeroU64;

use deadloop_corpus::Transcript;
use deadloop_detect::harness::{Bound, Cursor, EventPlaces, Fact};
use deadloop_detect::{Chars, Event, ModelTask, TextChannel, Unit};

use crate::arrivals::Arrivals;
use crate::block::{Axis, Block};
use crate::plan::Plan;
use crate::plan_meters::{FactSource, PlanMeter};
use crate::program::ProgramAnswer;
use crate::record::{BlockDecision, Record, Region, Stop};
use crate::regions::{CellBox, ClaimedCells};

/// Replays one transcript through every setting of a plan.
///
/// Text is assumed to arrive in chunks of `chunks` chars. If `None`, the recorded chunks are used. Each distinct meter
/// of the plan reads its channel, or the run, once. Memory holds the transcript and its facts. A setting with a program
/// yields an error, see [`Programs::decide`](crate::Programs::decide).
pub fn decide(plan: &Plan, transcript: &Transcript, chunks: Option<NonZeroU64>) -> Record {
    decide_with(plan, transcript, chunks, &[])
}

/// Replays a transcript, see [`decide`]. `answers` are those of the plan's programs, in their order.
pub(crate) fn decide_with(
    plan: &Plan,
    transcript: &Transcript,
    chunks: Option<NonZeroU64>,
    answers: &[ProgramAnswer],
) -> Record {
    let arrivals = Arrivals::new(transcript, chunks);
    let measured = TranscriptFacts {
        facts: measure_facts(plan, transcript, &arrivals),
        answers,
        arrivals,
    };
    let blocks = plan
        .blocks()
        .iter()
        .map(|block| measured.decide_block(block, transcript.work()));
    Record {
        transcript: transcript.id.as_str().into(),
        blocks: blocks.collect(),
    }
}

/// The measurements of a transcript from which the result of every block is derived.
struct TranscriptFacts<'a> {
    /// The facts of each meter of the plan.
    facts: Vec<Vec<Fact>>,
    /// The answer of each program of the plan.
    answers: &'a [ProgramAnswer],
    arrivals: Arrivals<'a>,
}

/// Returns the facts of a transcript for each meter of the plan.
fn measure_facts(plan: &Plan, transcript: &Transcript, arrivals: &Arrivals<'_>) -> Vec<Vec<Fact>> {
    let texts = [TextChannel::Reasoning, TextChannel::Answer];
    let texts = texts.map(|lane| (lane, arrivals.text(lane.into())));
    let turns = has_turns(transcript);
    let users = transcript
        .stream()
        .any(|(_, event)| matches!(event, Event::User(_)));
    let read_facts = |reading: &PlanMeter| {
        let channel = reading.channel;
        if let Some((lane, text)) = texts.iter().find(|(lane, _)| *lane == channel)
            && !reading.recipe.reads_run()
            && !(turns && reading.recipe.restarts_at_turns())
            && !(users && reading.recipe.reads_user_messages())
        {
            return reading.measure_text(*lane, text);
        }
        let (mut places, mut facts) = (EventPlaces::default(), Vec::new());
        let mut meter = reading.recipe.meter(channel);
        for (_, event) in transcript.stream() {
            meter.push(&event, places.advance(&event), &mut facts);
        }
        facts
    };
    plan.sources().meters().iter().map(read_facts).collect()
}

/// Returns whether a turn begins after some text, so that the turns have separate texts.
pub fn has_turns(transcript: &Transcript) -> bool {
    let mut text = false;
    transcript.stream().any(|(_, event)| match event {
        Event::Text(..) => {
            text = true;
            false
        }
        Event::Turn { .. } => text,
        _ => false,
    })
}

/// A possible alarm, with the cells whose settings would raise it.
struct StopCandidate {
    /// The sort key: the place of the stop, the index of its event in the stream, and the member.
    ///
    /// The order is that in which a live guard meets the facts. Text has index 0 and comes first. A silence or a
    /// derived turn has the place of the following event. The sort is stable, so the facts of one meter keep their
    /// order.
    order: (Cursor, u64, usize),
    cells: CellBox,
    stop: Stop,
}

impl StopCandidate {
    fn new(cells: CellBox, stop: Stop, nth: u64) -> Self {
        Self {
            order: (stop.exact.place, nth, stop.member),
            cells,
            stop,
        }
    }
}

impl TranscriptFacts<'_> {
    fn decide_block(&self, block: &Block, work: ModelTask<'_>) -> BlockDecision {
        let mut candidates = self.stops_from_facts(block, work);
        match self.stops_from_programs(block, work) {
            Ok(answers) => candidates.extend(answers),
            Err(error) => {
                return BlockDecision {
                    error: Some(error),
                    ..BlockDecision::default()
                };
            }
        }
        candidates.sort_by_key(|candidate| candidate.order);
        BlockDecision {
            details: self.collect_details(block, work),
            ..claim_cells(block, candidates)
        }
    }

    /// Returns the details of the programs' alarms, each with the index of its member.
    fn collect_details(&self, block: &Block, work: ModelTask<'_>) -> Vec<(usize, String)> {
        let (_, sources) = block.guard_for(work);
        let answers = sources.programs.iter().filter_map(|(member, program)| {
            let alarm = self.answers.get(*program)?.as_ref().ok()?.as_ref()?;
            Some((*member, alarm.detail.clone()?))
        });
        answers.collect()
    }

    fn stops_from_facts(&self, block: &Block, work: ModelTask<'_>) -> Vec<StopCandidate> {
        let (guard, sources) = block.guard_for(work);
        let mut candidates = Vec::new();
        for source in &sources.facts {
            let rule = guard.members[source.member].rule();
            for fact in &self.facts[source.meter] {
                let varies = |param: &str| find_axis(block, source.member, param).is_some();
                let Some(first) = rule.alarm_except(fact, varies) else {
                    continue;
                };
                for step in accepting_steps(block, source.member, fact, first) {
                    if let Some(cells) = CellBox::accepting(block, source.member, fact, step) {
                        let stop = make_stop(&self.arrivals, source, fact, step);
                        let nth = fact.place().map_or(0, |place| place.event + 1);
                        candidates.push(StopCandidate::new(cells, stop, nth));
                    }
                }
            }
        }
        candidates
    }

    /// Returns the alarms of a block's programs. A program has no thresholds, so its alarm applies to every cell. If a
    /// program failed, its error is that of the whole block.
    fn stops_from_programs(
        &self,
        block: &Block,
        work: ModelTask<'_>,
    ) -> Result<Vec<StopCandidate>, String> {
        let (_, sources) = block.guard_for(work);
        let mut candidates = Vec::new();
        for (member, program) in &sources.programs {
            let answers = self.answers.get(*program);
            let alarm = answers.ok_or("its program does not run")?.as_ref()?;
            if let Some(alarm) = alarm {
                let [exact, delivered] = match alarm.event {
                    Some(nth) => [self.arrivals.event_moment(nth, alarm.channel, alarm.at); 2],
                    None => self.arrivals.moments(alarm.channel, Chars(alarm.at)),
                };
                let stop = Stop {
                    channel: alarm.channel,
                    kind: alarm.kind,
                    member: *member,
                    exact,
                    delivered,
                };
                let nth = match alarm.channel.unit() {
                    Unit::Chars => 0,
                    _ => self.arrivals.last_event_index(exact.place) + 1,
                };
                candidates.push(StopCandidate::new(CellBox::all(block), stop, nth));
            }
        }
        Ok(candidates)
    }
}

fn find_axis<'b>(block: &'b Block, member: usize, param: &str) -> Option<&'b Axis> {
    let mut axes = block.axes().iter();
    axes.find(|axis| axis.member == member && axis.param == param)
}

/// Returns the steps at which some cell begins to accept a fact: `first`, and the later steps at which a growing bound
/// reaches values of its axis.
fn accepting_steps(block: &Block, member: usize, fact: &Fact, first: u64) -> Vec<u64> {
    let mut steps = vec![first];
    for (param, bound) in fact.bounds.iter() {
        if let (Some(axis), Bound::Steps { .. } | Bound::Units { .. }) =
            (find_axis(block, member, param), bound)
        {
            let reached = |number: &i64| fact.first_accepted(axis.threshold, *number, bound);
            let later = axis.numbers().iter().filter_map(reached);
            steps.extend(later.filter(|step| *step > first));
        }
    }
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn claim_cells(block: &Block, candidates: Vec<StopCandidate>) -> BlockDecision {
    let mut decided = BlockDecision::default();
    let mut claimed_cells = ClaimedCells::new(block);
    for candidate in candidates {
        if claimed_cells.covers_all() {
            break;
        }
        let claimed = claimed_cells.claim(candidate.cells);
        if claimed.is_empty() {
            continue;
        }
        if decided.stops.last() != Some(&candidate.stop) {
            decided.stops.push(candidate.stop);
        }
        let stop = decided.stops.len() - 1;
        let region = |cells: CellBox| Region {
            lo: cells.lo.into_vec(),
            hi: cells.hi.into_vec(),
            stop,
        };
        decided.regions.extend(claimed.into_iter().map(region));
    }
    // Up to a hundred thousand of these stay in memory.
    decided.stops.shrink_to_fit();
    decided.regions.shrink_to_fit();
    decided
}

/// Creates the stop of a member that accepts `fact` at `step`.
fn make_stop(arrivals: &Arrivals<'_>, source: &FactSource, fact: &Fact, step: u64) -> Stop {
    let [exact, delivered] = match fact.place() {
        // An event arrives as a whole, so both moments are equal.
        Some(place) => [arrivals.moment_of_fact(place); 2],
        None => arrivals.moments(source.channel, Chars(fact.position(step).count())),
    };
    Stop {
        channel: source.channel,
        kind: fact.kind,
        member: source.member,
        exact,
        delivered,
    }
}
