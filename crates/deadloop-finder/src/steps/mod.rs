//! The offline finder for runs: finds calls that brought nothing new.
//!
//! Unlike any guard, it reads the whole run, and so the future. It shares no rules or code with the detectors.
//!
//! | to find | look in |
//! |---|---|
//! | a run as calls with their results | `step` |
//! | the kind of a result | `result_kind` |
//! | commands that are copies of themselves | `argument_copies` |
//! | numbers that count the calls | `counters` |
//! | edits that undo edits | `edits` |
//! | the news of each call | `news` |
//! | stretches without news, and the class of a run | this file |
//! | the kind of loop of a stretch | `shape` |
//! | harmless repetition | `benign` |
//! | repeated texts of turns | `turns` |

use deadloop_detect::{Channel, Kind};

use deadloop_corpus::{BenignSpan, Body, Class, Transcript};

mod argument_copies;
mod benign;
mod counters;
mod edits;
mod news;
mod result_kind;
mod shape;
mod step;
mod turns;

use news::{CallNews, JudgedCall, judge};
use step::{RunStep, steps};

/// A stretch of calls or turns that a label can name, counted from 0 over the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpan {
    /// The class of the run, judged by this stretch alone.
    pub class: Class,
    /// The channel whose units are counted: `tools` or `turns`.
    pub channel: Channel,
    /// The kind of loop.
    pub kind: Kind,
    /// The first call of the first copy.
    pub start: u64,
    /// The first call without news.
    pub onset: u64,
    /// The position after the last call. `None` if the stretch lasts to the end.
    pub end: Option<u64>,
    /// The number of calls from one copy to the next, if copies are alike.
    pub period: Option<u64>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
}

impl RunSpan {
    /// Returns whether the stretches have a unit in common.
    fn meets(&self, other: &Self) -> bool {
        let before = |a: &Self, b: &Self| a.end.is_some_and(|end| end <= b.onset);
        !before(self, other) && !before(other, self)
    }
}

/// The findings in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFindings {
    /// The class of the run.
    pub class: Class,
    /// The confidence in the class, from 0 to 1.
    pub confidence: f64,
    /// The channel whose units are counted: `tools`, or `turns` if the run has no calls.
    pub channel: Channel,
    /// The stretches without news, in order.
    pub spans: Vec<RunSpan>,
    /// The harmless repetition.
    pub benign: Vec<BenignSpan>,
}

/// Examines the calls of a run, and the turns with repeated text. `None` if the transcript is not a run.
pub fn find_run(transcript: &Transcript) -> Option<RunFindings> {
    let events = &transcript.events;
    let outside = |body: &Body| matches!(body, Body::Turn | Body::User(_) | Body::Handoff { .. });
    let steps = steps(events);
    if steps.is_empty() && !events.iter().any(|event| outside(&event.body)) {
        return None;
    }
    let judged = judge(&steps);
    let cut = is_cut(transcript);
    let mut benign = benign::benign(&steps, &judged);
    let near = stretches(&judged, NEWS);
    let most = near.iter().map(|stretch| stretch.score).fold(0.0, f64::max);
    let label = |stretch: &CallStretch| stretch.label(&steps, &judged, cut);
    let mut spans: Vec<RunSpan> = near.iter().filter_map(label).collect();
    // A stretch that goes on for long, with some news between, is one loop.
    let wide = stretches(&judged, NEWS / 2.0).into_iter();
    let wide = wide.filter(|wide| wide.to - wide.from >= WIDE && wide.score >= LONG);
    for wide in wide.filter_map(|stretch| label(&stretch)) {
        if !spans
            .iter()
            .any(|span| span.class == Class::Loop && wide.meets(span))
        {
            spans.retain(|span| !wide.meets(span));
            spans.push(wide);
        }
    }
    spans.sort_by_key(|span| span.onset);
    spans.extend(turns::monologues(events));
    benign.sort_by_key(|benign| (benign.start, benign.end));
    let (class, confidence) = run_class(&spans, most);
    Some(RunFindings {
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

/// Returns the class of the run: the class of its worst stretch.
fn run_class(spans: &[RunSpan], most: f64) -> (Class, f64) {
    for class in [Class::Loop, Class::Unsure, Class::Transient] {
        let of = spans.iter().filter(|span| span.class == class);
        if let Some(confidence) = of.map(|span| span.confidence).reduce(f64::max) {
            return (class, confidence);
        }
    }
    // A score that is nearly high enough lowers the confidence.
    (Class::Clean, 1.0 - 0.4 * (most / LEFT).min(1.0))
}

/// Returns whether the run was ended by a limit, and not by itself.
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

/// A stretch of calls with the highest possible score for going in circles.
#[derive(Clone, Copy, Debug)]
struct CallStretch {
    from: usize,
    to: usize,
    score: f64,
    /// The number of calls after the stretch, up to the last one with a result.
    after: usize,
}

/// The weight of a call with news. In a long stretch it is half of it.
const NEWS: f64 = -1.5;
/// The minimum number of calls of a long stretch.
const WIDE: usize = 20;
/// The minimum score of a stretch after which the run made progress again.
const LEFT: f64 = 1.9;
/// The minimum score of a loop in which a limit cut the run.
const CUT: f64 = 2.3;
/// The minimum score of a loop at the end of a run with at most two different calls.
const NARROW: f64 = 5.0;
/// The minimum score of a loop in any other place.
const LONG: f64 = 7.0;
/// The minimum score of an unsure stretch at a limit.
const SHORT: f64 = 1.9;
/// The number of calls at a limit that are ignored: the last call alone does not show progress.
const LAST: usize = 1;

/// Returns the disjoint stretches with the highest sums of weights, with the weight of a call with news.
fn stretches(judged: &[JudgedCall], new: f64) -> Vec<CallStretch> {
    let mut found = Vec::new();
    let mut open: Option<CallStretch> = None;
    let mut score = 0.0;
    for (at, judged) in judged.iter().enumerate() {
        let weight = judged.news.weight(new);
        score += weight;
        match &mut open {
            None if weight > 0.0 => {
                score = weight;
                open = Some(CallStretch {
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
    // Calls without a result at the very end do not end a stretch.
    let open = judged
        .iter()
        .rev()
        .take_while(|judged| judged.news == CallNews::Open);
    let calls = judged.len() - open.count();
    for stretch in &mut found {
        stretch.after = calls.saturating_sub(stretch.to);
    }
    found
}

impl CallStretch {
    fn label(&self, steps: &[RunStep], judged: &[JudgedCall], cut: bool) -> Option<RunSpan> {
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
        Some(RunSpan {
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
