//! The offline finder for runs of agents: which calls brought nothing new. It knows the whole run, and
//! so the future; it uses no rule of a guard and shares no code with the detectors.
//!
//! | to find | look in |
//! |---|---|
//! | a run as calls and what came of them | `read` |
//! | commands that are copies of themselves | `grown` |
//! | whether a call brought anything | `news` |
//! | stretches that brought nothing, and what a run is | this file |
//! | what kind of loop a stretch is | `shape` |
//! | repetition that does no harm | `benign` |
//! | turns without calls that say the same again | `turns` |

use deadloop_detect::{Channel, Kind};

use crate::transcript::Class;
use crate::{Body, Transcript};

mod benign;
mod grown;
mod news;
mod read;
mod shape;
mod turns;

pub use benign::{Benign, Reason};
use news::{Judged, News, judge};
use read::{Step, steps};

/// A stretch of calls (or turns) that a label can name, counted from 0 over the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuck {
    /// What the run is by this stretch.
    pub class: Class,
    /// What it is counted in: `tools` or `turns`.
    pub channel: Channel,
    /// What is repeated.
    pub kind: Kind,
    /// The first call of the first copy.
    pub start: u64,
    /// The first call that brought nothing new.
    pub onset: u64,
    /// One past its last call; none: it goes on to the end.
    pub end: Option<u64>,
    /// Calls from one copy to the next, where copies are alike.
    pub period: Option<u64>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
}

/// What was found in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRun {
    /// What the run is.
    pub class: Class,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What it is counted in: `tools`, or `turns` where nothing was called.
    pub channel: Channel,
    /// Stretches that brought nothing new, in order.
    pub spans: Vec<Stuck>,
    /// Repetition that does no harm.
    pub benign: Vec<Benign>,
}

/// Looks through the calls of a run, and through the turns that only say something. None: it is no run.
pub fn find_run(transcript: &Transcript) -> Option<FoundRun> {
    let events = &transcript.events;
    let outside = |body: &Body| matches!(body, Body::Turn | Body::User(_) | Body::Handoff { .. });
    let steps = steps(events);
    if steps.is_empty() && !events.iter().any(|event| outside(&event.body)) {
        return None;
    }
    let judged = judge(&steps);
    let cut = is_cut(transcript);
    let mut benign = benign::benign(&steps, &judged);
    let mut spans = Vec::new();
    let mut most: f64 = 0.0;
    for stretch in stretches(&judged) {
        most = most.max(stretch.score);
        // A tool that waits is called again until what it waits for is there.
        let waits = steps[stretch.from..stretch.to]
            .iter()
            .all(|step| step.waits);
        if waits {
            benign.push(Benign::of(Reason::Poll, stretch.from, stretch.to));
            continue;
        }
        spans.extend(stretch.label(&steps, &judged, cut));
    }
    spans.extend(turns::monologues(events));
    benign.sort_by_key(|benign| (benign.start, benign.end));
    let (class, confidence) = whole(&spans, most);
    Some(FoundRun {
        class,
        confidence,
        channel: if steps.is_empty() {
            Channel::Turns
        } else {
            Channel::Tools
        },
        spans,
        benign,
    })
}

/// The class of the run: as of its worst stretch.
fn whole(spans: &[Stuck], most: f64) -> (Class, f64) {
    for class in [Class::Loop, Class::Unsure, Class::Transient] {
        let of = spans.iter().filter(|span| span.class == class);
        if let Some(confidence) = of.map(|span| span.confidence).reduce(f64::max) {
            return (class, confidence);
        }
    }
    // What nearly was enough makes it less sure.
    (Class::Clean, 1.0 - 0.4 * (most / LEFT).min(1.0))
}

/// Whether the run was ended by a limit, and not by itself.
fn is_cut(transcript: &Transcript) -> bool {
    let named = transcript.finish_reason().is_some_and(|reason| {
        let reason = reason.to_lowercase();
        ["limit", "length", "max", "budget", "cost", "exceed"]
            .iter()
            .any(|word| reason.contains(word))
    });
    let count = |name: &str| {
        transcript
            .meta
            .get(name)
            .and_then(serde_json::Value::as_u64)
    };
    let turns = || {
        let turns = transcript
            .stream()
            .filter(|(_, event)| matches!(event, deadloop_detect::Event::Turn { .. }));
        turns.count() as u64
    };
    named || count("max_turns").is_some_and(|most| turns() >= most)
}

/// A stretch of calls that together speak for going in circles, as much as they can.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: usize,
    to: usize,
    score: f64,
    /// Calls that follow it and of which something came.
    after: usize,
}

/// From this score on a stretch that was left counts.
const LEFT: f64 = 1.9;
/// From this score on a stretch is a loop where a limit cut the run in it.
const CUT: f64 = 2.3;
/// Likewise, where the run ended in it with at most two different calls.
const NARROW: f64 = 5.0;
/// Likewise, anywhere.
const LONG: f64 = 7.0;
/// From this score on a stretch at a limit is worth a question.
const SHORT: f64 = 1.9;
/// Where a limit cut the run, the last call alone says little of whether it was getting on.
const LAST: usize = 1;

/// The stretches whose weights add up to most, apart from each other.
fn stretches(judged: &[Judged]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut open: Option<Stretch> = None;
    let mut score = 0.0;
    for (at, judged) in judged.iter().enumerate() {
        let weight = judged.news.weight();
        score += weight;
        match &mut open {
            None if weight > 0.0 => {
                score = weight;
                open = Some(Stretch {
                    from: at,
                    to: at + 1,
                    score,
                    after: 0,
                });
            }
            None => score = 0.0,
            Some(stretch) if score > stretch.score => {
                (stretch.to, stretch.score) = (at + 1, score);
            }
            Some(stretch) if score <= 0.0 => {
                found.push(*stretch);
                (open, score) = (None, 0.0);
            }
            Some(_) => {}
        }
    }
    found.extend(open);
    // Calls at the very end of which nothing came end no stretch.
    let open = judged
        .iter()
        .rev()
        .take_while(|judged| judged.news == News::Open);
    let calls = judged.len() - open.count();
    for stretch in &mut found {
        stretch.after = calls.saturating_sub(stretch.to);
    }
    found
}

impl Stretch {
    fn label(&self, steps: &[Step], judged: &[Judged], cut: bool) -> Option<Stuck> {
        let narrow = shape::distinct(&steps[self.from..self.to]) <= 2;
        let limited = cut && self.after <= LAST;
        let (class, least) = match self.score {
            score if limited && score >= CUT => (Class::Loop, CUT),
            score if self.after == 0 && narrow && score >= NARROW => (Class::Loop, NARROW),
            score if score >= LONG => (Class::Loop, LONG),
            score if limited && score >= SHORT => (Class::Unsure, SHORT),
            score if score >= LEFT => (Class::Transient, LEFT),
            _ => return None,
        };
        let start = judged[self.from].before.unwrap_or(self.from);
        let (kind, period) = shape::kind(steps, (start, self.from, self.to));
        let above = self.score - least;
        let goes_on = self.after == 0 && class != Class::Transient;
        Some(Stuck {
            class,
            channel: Channel::Tools,
            kind,
            start: start as u64,
            onset: self.from as u64,
            end: (!goes_on).then_some(self.to as u64),
            period: period.map(|period| period as u64),
            confidence: match class {
                Class::Unsure => 0.5,
                _ => 1.0 - 0.45 * (-above / 2.0).exp(),
            },
        })
    }
}
