//! The offline finder for runs: finds calls without a new result.
//!
//! Unlike a guard, it reads the whole run, and so the future. It shares no rules or code with the detectors.
//!
//! | to find | look in |
//! |---|---|
//! | a run as calls with their results | `step` |
//! | the kind of a result | `result_kind` |
//! | commands that consist of copies | `argument_copies` |
//! | call counters in results | `counters` |
//! | edits that restore a file | `edits` |
//! | the news of each call | `news` |
//! | repetitive stretches, and the class of a run | this file |
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
use step::{RunStep, read_steps};

/// A stretch of calls or turns that a label can name, counted from 0 over the run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpan {
    /// The class of the run that this stretch alone gives.
    pub class: Class,
    /// The channel whose units are counted: `tools` or `turns`.
    pub channel: Channel,
    /// The kind of loop.
    pub kind: Kind,
    /// The first call of the first copy.
    pub start: u64,
    /// The first repeated call.
    pub onset: u64,
    /// The position after the last call. `None` if the stretch lasts to the end.
    pub end: Option<u64>,
    /// The number of calls from one copy to the next, if the calls have a period.
    pub period: Option<u64>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
}

impl RunSpan {
    /// Returns whether the stretches have a unit in common.
    fn overlaps(&self, other: &Self) -> bool {
        let before = |a: &Self, b: &Self| a.end.is_some_and(|end| end <= b.onset);
        !before(self, other) && !before(other, self)
    }
}

/// The repetition found in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFindings {
    /// The class of the run.
    pub class: Class,
    /// The confidence in the class, from 0 to 1.
    pub confidence: f64,
    /// The channel whose units are counted: `tools`, or `turns` if the run has no calls.
    pub channel: Channel,
    /// The repetitive stretches, in order.
    pub spans: Vec<RunSpan>,
    /// The harmless repetition.
    pub benign: Vec<BenignSpan>,
}

/// Finds the loops of a run: repetitive calls, and turns with repeated text. `None` if the transcript is not a run.
pub fn find_run(transcript: &Transcript) -> Option<RunFindings> {
    let events = &transcript.events;
    let outside = |body: &Body| matches!(body, Body::Turn | Body::User(_) | Body::Handoff { .. });
    let steps = read_steps(events);
    if steps.is_empty() && !events.iter().any(|event| outside(&event.body)) {
        return None;
    }
    let judged = judge(&steps);
    let cut = is_cut(transcript);
    let mut benign = benign::find_benign(&steps, &judged);
    let near = find_stretches(&judged, NEW_WEIGHT);
    let most = near.iter().map(|stretch| stretch.score).fold(0.0, f64::max);
    let to_span = |stretch: &CallStretch| stretch.to_span(&steps, &judged, cut);
    let mut spans: Vec<RunSpan> = near.iter().filter_map(to_span).collect();
    // A long loop may have some new results. It replaces the shorter stretches in it.
    let wide = find_stretches(&judged, NEW_WEIGHT / 2.0).into_iter();
    let wide = wide.filter(|wide| wide.to - wide.from >= MIN_WIDE && wide.score >= LOOP);
    for wide in wide.filter_map(|stretch| to_span(&stretch)) {
        if !spans
            .iter()
            .any(|span| span.class == Class::Loop && wide.overlaps(span))
        {
            spans.retain(|span| !wide.overlaps(span));
            spans.push(wide);
        }
    }
    spans.sort_by_key(|span| span.onset);
    spans.extend(turns::find_repeated_turns(events));
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

/// Returns the class of the worst stretch, with its confidence.
fn run_class(spans: &[RunSpan], most: f64) -> (Class, f64) {
    for class in [Class::Loop, Class::Unsure, Class::Transient] {
        let matching = spans.iter().filter(|span| span.class == class);
        if let Some(confidence) = matching.map(|span| span.confidence).reduce(f64::max) {
            return (class, confidence);
        }
    }
    // The confidence is lower if a score is nearly high enough.
    (Class::Clean, 1.0 - 0.4 * (most / TRANSIENT).min(1.0))
}

/// Returns whether a limit ended the run.
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

/// A stretch of calls whose score cannot be raised by extending or cutting it.
#[derive(Clone, Copy, Debug)]
struct CallStretch {
    from: usize,
    to: usize,
    score: f64,
    /// The number of calls after the stretch, up to the last one with a result.
    after: usize,
}

/// The weight of a call with a new result. In long stretches it is halved.
const NEW_WEIGHT: f64 = -1.5;
/// The minimum number of calls of a long stretch.
const MIN_WIDE: usize = 20;
/// The minimum score of a transient stretch.
const TRANSIENT: f64 = 1.9;
/// The minimum score of a loop that a limit cut.
const CUT_LOOP: f64 = 2.3;
/// The minimum score of a loop of at most two different calls at the end of a run.
const NARROW_LOOP: f64 = 5.0;
/// The minimum score of any other loop.
const LOOP: f64 = 7.0;
/// The minimum score of an unsure stretch that a limit cut.
const UNSURE: f64 = 1.9;
/// The number of calls before a limit that are ignored: one call is no progress.
const IGNORED_CALLS: usize = 1;

/// Finds the disjoint stretches with the highest sums of weights. `new` is the weight of a call with a new result.
fn find_stretches(judged: &[JudgedCall], new: f64) -> Vec<CallStretch> {
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
        .take_while(|judged| judged.news == CallNews::Unanswered);
    let calls = judged.len() - open.count();
    for stretch in &mut found {
        stretch.after = calls.saturating_sub(stretch.to);
    }
    found
}

impl CallStretch {
    /// Returns the span of the stretch. `None` if the score is too low.
    fn to_span(self, steps: &[RunStep], judged: &[JudgedCall], cut: bool) -> Option<RunSpan> {
        let narrow = shape::count_distinct(&steps[self.from..self.to]) <= 2;
        let limited = cut && self.after <= IGNORED_CALLS;
        let (class, least) = match self.score {
            score if limited && score >= CUT_LOOP => (Class::Loop, CUT_LOOP),
            score if self.after == 0 && narrow && score >= NARROW_LOOP => {
                (Class::Loop, NARROW_LOOP)
            }
            score if score >= LOOP => (Class::Loop, LOOP),
            score if limited && score >= UNSURE => (Class::Unsure, UNSURE),
            score if score >= TRANSIENT => (Class::Transient, TRANSIENT),
            _ => return None,
        };
        let start = judged[self.from].before.unwrap_or(self.from);
        let (kind, period) = shape::loop_kind(steps, (start, self.from, self.to));
        let margin = self.score - least;
        let lasts = self.after == 0 && class != Class::Transient;
        Some(RunSpan {
            class,
            channel: Channel::Tools,
            kind,
            start: start as u64,
            onset: self.from as u64,
            end: (!lasts).then_some(self.to as u64),
            period: period.map(|period| period as u64),
            confidence: match class {
                Class::Unsure => 0.5,
                _ => 1.0 - 0.45 * (-margin / 2.0).exp(),
            },
        })
    }
}
